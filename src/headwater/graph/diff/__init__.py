"""What is different between two graphs, and which event made it so.

compare        what was added, removed or changed between two graphs
tellings       what a single event says, in the terms of a diff
telling_event  which event made a change; regrouped: which event joined or split names
holders        which runs and declarations keep an element in a graph
"""
