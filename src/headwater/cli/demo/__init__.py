"""The main job in one command: three pipelines over real flights, and what was learned from them.

data      the flights of 2013 as CSV files
service   a lineage service in a process of its own
expected  what must be learned (expected.yaml, by hand)
learned   what was learned, and where it differs
command   `headwater demo`
"""
