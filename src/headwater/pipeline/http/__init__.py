"""Records of an API, as input and output.

call.py     one call, with retries, and credentials from the environment
paging.py   which page comes next: pure
"""
