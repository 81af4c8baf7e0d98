"""The differences between two graphs, and the event that made each.

compare            elements added, removed or changed between two graphs
event_content      the content of a single event, in the terms of a diff
originating_event  the event that made a change; regrouped: the event that joined or split names
holders            the runs and declarations that keep an element in a graph
"""
