"""Who asks, and what they may do: nothing here knows of HTTP or of the graph.

callers     who asks: roles, scopes, nodes
api_keys    keys that the service hands out; only their hashes are kept
oidc        bearer tokens of an identity provider, and what their claims grant
key_set     the provider's public keys, fetched again and kept
operator    a token that whoever holds the log's key makes for a minute
entrance    what the service needs to know who asks, put together
policy      may this caller do that? `policy.cedar` says
config      `access.yaml`
veil        an answer without the names that its reader may not know
"""
