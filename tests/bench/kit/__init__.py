"""What benchmarks share: tables, peers, the lines that they print."""
