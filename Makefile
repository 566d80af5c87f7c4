PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := report
.PHONY: report test check

report: $(VENV)/.local  ## the main job on the embedded model: leaves reports/04_compare.html
	$(BIN)/ctxlab fetch-model
	$(BIN)/ctxlab report notebooks/04_compare.ipynb --out reports

test: $(VENV)/.dev  ## the whole suite, the real model and the browser included
	$(BIN)/ctxlab fetch-model
	$(BIN)/ctxlab fetch-model small
	$(BIN)/python -m pytest -q -n 2 -m "not model and not browser"
	$(BIN)/python -m pytest -q -m "model or browser"

check: $(VENV)/.dev  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(VENV)/.local: pyproject.toml constraints.txt
	@echo "installing ctxlab[local] and what it needs into $(VENV)"
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e ".[local]"
	touch $@

$(VENV)/.dev: $(VENV)/.local
	@echo "installing what tests and checks need into $(VENV)"
	$(PIP) -e ".[local,dev]"
	touch $@
