"""What jobs and datasets come to, kept in step with events.

tally       what one adds; tallied: every node by that; totals: numbers, orders, namespaces, sources of all
ordered     sets in their order, times by group
"""
