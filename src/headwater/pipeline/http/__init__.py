"""Records of an API, in and out.

call.py     one call, again while it fails for now, with auth from the environment
paging.py   which page comes next: pure
"""
