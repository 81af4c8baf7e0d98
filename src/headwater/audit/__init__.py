"""Audits: a part of the log in one file, and a checker for it that trusts nobody.

core      checks a bundle; one file for auditors to read, with Python's standard library and Ed25519 only
export    creates a bundle     graph  the graph in a bundle     keys  whose signatures count
about     which entries concern one dataset
chains    the nodes' chains in a bundle: is each event at its place?
heads     the checkpoints that nodes were given: are they this log's?
erasures  is each erasure recorded in the log?
late      events after the entry that revokes their key
bounds    parts of a bundle that are larger than the checker accepts
"""
