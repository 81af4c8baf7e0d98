"""Code shared by benchmarks, and parts of long ones.

served         a service on a home, the load generator, response times
runs           one run of a pipeline, with lineage or without, and its cost
fleet_network  the simulated network of `fleet.py`, which loses, repeats, delays and cuts
fleet_record   the expected content of the log of `fleet.py`, and of its nodes' chains
"""
