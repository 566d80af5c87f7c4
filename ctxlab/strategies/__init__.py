"""Strategies: treatments of a case, one file each, on the contract of `base`."""
