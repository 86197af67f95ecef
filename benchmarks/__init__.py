"""Measurements of the service beside the limits of the machine: ``python -m benchmarks``.

Every figure stands beside a limit measured in the same run, in interleaved pairs, because machines are noisy. Nothing
is asserted here. Each module holds one benchmark: ``run(stage) -> Table``.
"""
