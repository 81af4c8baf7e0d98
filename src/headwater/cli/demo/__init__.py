"""The main features in one command: three pipelines over real flights, and the lineage captured from them.

data      the flights of 2013 as CSV files
service   a lineage service in a process of its own
learned   the captured lineage, compared with `expected.yaml`, which was written by hand
words     its presentation as text
command   `headwater demo`
"""
