"""Pasts: the read model as of an event time, or as of a size of the log.

pasts           builds and caches pasts
cut_past        a past derived from the current state; replayed_past: one built by replaying the log
events_again    selects the events that a past needs again, of runs with events on both sides of its time
knowledge_as_of  the read model of a cut past, which falls back to the current one
unchanged       which nodes and runs are unchanged since; nodes_from_now: rendered JSON reused for them
seen_as_of      first and last events of nodes as of a time; activities_as_of: the runs of jobs
tallies_as_of   contributions of jobs and datasets to the totals
indirect_changes  nodes that may have changed although no event since mentions them
change_candidates  nodes that may differ between then and now, for comparisons
older_facets    facets of nodes that were reported again since
"""
