"""The measurements: ``python -m benchmarks`` (``make bench``) and ``python -m benchmarks.load`` (``make load``)."""
