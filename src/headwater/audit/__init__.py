"""Audits: a part of the log in one file, and a checker for it that trusts nobody.

core       checks a bundle; one file for auditors to read, with Python's standard library and Ed25519 only
export     creates a bundle     graph  the graph in a bundle     keys  the keys whose signatures count
about      the entries that concern one dataset
made_from  what a dataset is made from by a bundle's entries, and who signed them
chains     checks the nodes' chains: is each event at its position?
heads      checks the checkpoints that nodes name: are they this log's?
erasures   checks that each erasure is recorded in the log
late       events after the entry that revokes their key
bounds     parts of a bundle that are larger than the checker accepts
"""
