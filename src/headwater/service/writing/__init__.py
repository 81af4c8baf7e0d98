"""What is written over the API: each is an event of our own or an edit, and stands in the log.

writing     namespaces, sources, datasets, jobs, runs, tags
keys        the key directory; api_keys: who may ask
actions     who wrote what, when
"""
