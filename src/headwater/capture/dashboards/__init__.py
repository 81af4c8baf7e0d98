"""Dashboards that a file declares: who owns them, and which columns of which tables their queries read.

spec         what a file says
reading      the file → that, or everything that is wrong with it, by line
resolved     a file's queries with the columns that are known of their tables
events       that as events: each dashboard a dataset, each query a job that feeds it
"""
