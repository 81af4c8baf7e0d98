"""Audits: a part of the log in one file, and the check of it that trusts nobody.

core      checks a bundle; one file for auditors to read, of Python's standard library and Ed25519 alone
export    puts a bundle together     graph  what a graph is, in a bundle     keys  whose signatures count
about     which entries are about one dataset
chains    the nodes' own records in a bundle: is each event at its place?
heads     the heads that nodes were shown: are they this log's?
erasures  what is called erased: does the log say so?
late      events behind the entry that revokes their key
bounds    what of a bundle is larger than whoever checks it reads
"""
