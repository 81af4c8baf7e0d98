"""What several benchmarks share, or one is too long for.

served         a service on a home, the load generator, how long answers take
runs           one run of a pipeline, with lineage or without, and what it took
fleet_network  the network of `fleet.py`, which loses, repeats, holds up and cuts
fleet_record   what the log of `fleet.py` must hold, and what its nodes' records must tell
"""
