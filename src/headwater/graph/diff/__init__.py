"""What is different between two graphs, and which event made it so.

compare            what was added, removed or changed between two graphs
event_content      what a single event says, in the terms of a diff
originating_event  which event made a change; regrouped: which event joined or split names
holders            which runs and declarations keep an element in a graph
"""
