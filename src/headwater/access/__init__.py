"""Authentication and authorization; independent of HTTP and of the graph.

callers     callers: roles, scopes, nodes
api_keys    keys that the service issues; only their hashes are stored
oidc        bearer tokens of an identity provider, and the rights in their claims
key_set     the provider's public keys, refreshed and cached
operator    a one-minute token for the holder of the log's key
entrance    assembles the objects of these that the service uses
policy      authorization by `policy.cedar`
config      `access.yaml`
redaction   redacts from an answer the names that its reader may not know
"""
