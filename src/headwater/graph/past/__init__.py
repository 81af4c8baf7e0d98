"""The graph as it was at a time, derived from the current graph.

cut           the past graph; cut_records: its jobs; cut_facets: its facets
unchanged     finds the jobs, datasets and runs that are unchanged since then
refolded      the part that is folded again: runs with events before and after; recounted: past edges from current ones
last_changes  last changes of jobs and datasets that only their own runs report, and their reports by some time
walk_by       the past neighbourhood of a node, walked in a later graph
lazy          mappings whose values are computed on demand
"""
