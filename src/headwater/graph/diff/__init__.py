"""What is different between two graphs, and which event made it so.

compare        what came, went and changed from one graph to another
tellings       what single events tell of that
telling_event  which of them made a change; regrouped: where names became one dataset, or were taken apart
holders        by whom an element is in a graph: who may let go of it again
"""
