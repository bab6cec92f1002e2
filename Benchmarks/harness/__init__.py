"""The common parts of the benchmarks: processes, servers under test, tokens, interleaved measurements, the table."""
