"""Writes over the API: each becomes an event of our own or an edit, and is an entry of the log.

writing     namespaces, sources, datasets, jobs, runs, tags; put_times: event times, even if a producer's clock is ahead
keys        the key directory; api_keys: API keys
actions     the audit trail
"""
