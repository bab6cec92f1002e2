"""What both benchmarks share: processes, servers under test, tokens, interleaved measurements, the table."""
