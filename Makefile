PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := report
.PHONY: report test check

report: $(STAMP)  ## the main job on the embedded model: leaves reports/04_compare.html
	$(BIN)/ctxlab fetch-model
	$(BIN)/ctxlab report notebooks/04_compare.ipynb --out reports

test: $(STAMP)  ## the whole suite, the real model and the browser included
	$(BIN)/ctxlab fetch-model
	$(BIN)/ctxlab fetch-model small
	$(BIN)/python -m pytest -q -n 2 -m "not slow"
	$(BIN)/python -m pytest -q -m slow

check: $(STAMP)  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[local,dev]"
	touch $(STAMP)
