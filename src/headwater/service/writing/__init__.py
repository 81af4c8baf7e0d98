"""What is written over the API: each is an event of our own or an edit, and stands in the log.

writing     namespaces, sources, datasets, jobs, runs, tags; put_times: when, where a producer's clock is ahead
keys        the key directory; api_keys: who may ask
actions     who wrote what, when
"""
