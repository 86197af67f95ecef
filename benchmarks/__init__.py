"""Measurements of the service beside the limits of the machine: ``python -m benchmarks``."""
