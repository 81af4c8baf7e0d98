"""The main job in one command: three pipelines over real flights, and what was learned from them.

data      the flights of 2013 as CSV files
service   a lineage service in a process of its own
learned   what was learned, and where it differs from `expected.yaml`, which was written by hand
words     the same in words
command   `headwater demo`
"""
