"""Totals over all jobs and datasets, updated incrementally with events.

tally       one node's contribution; tallied: all nodes' contributions; totals: counts, orders, namespaces, sources
ordered     sorted sets, and first and last times by group
"""
