"""Stand-ins for the benchmark clients: real requests, real files, made-up figures."""
