"""What newsdedup costs, beside other ways to the same result: `make bench` writes BENCHMARKS.md.

A part is a module with `tables(asked) -> Iterator[report.Table]`, and a name in bench.PARTS. files.py is a
program of its own, which big_files.py calls.
"""
