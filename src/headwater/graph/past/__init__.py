"""The graph as it was at a time, out of that of now.

cut           the graph as it was; cut_records: jobs in it; cut_facets: what it says of facets
cut_as_then   which of its jobs, datasets and runs are now as they were then
folded_again  the part that is folded again: what spoke both before and after; recounted: edges told from those of now
last_told     jobs and datasets that only their own runs tell of, and what these had told by some time
walk_by       what lay around a node, walked in the graph of a later time
lazy          mappings whose values are made when asked for
"""
