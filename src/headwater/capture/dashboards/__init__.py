"""Dashboards declared in a file: their owners, and which columns of which tables their queries read.

spec         the content of a file, as types
reading      parses and validates a file; reports every problem with its line
resolved     the queries, with the known columns of their tables
events       the events: each dashboard a dataset, each query a job that feeds it
"""
