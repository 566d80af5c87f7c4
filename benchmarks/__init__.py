"""Benchmarks: ratios measured side by side in one run, and what strategies keep of public data."""
