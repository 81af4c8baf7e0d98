"""Canonical form, signatures and keys: what makes an event provable.

canonical   the canonical form of a JSON text, which is hashed and signed
facet       the signature facet: its position, its members, their validation
chain       the chain facet: the event's position in its node's chain
sign        event in, signed event out; records: the same for rows of data
verify      event in, verdict out
ed25519     verification of a signature
keys        a node's key and its key id
keyfile     the node's key on disk
notefile    the key of a log or of a witness on disk
secretfile  files that only their owner may read
directory   statements about keys: enrolled, replaced, revoked; standing: which keys count
tokens      one-time tokens for enrolling keys
jwks        public keys as a JSON Web Key Set
merkle      the Merkle tree of a log, and its proofs
note        signed notes, and the keys of logs and witnesses
checkpoint  the head of a log as a signed note
witness     cosigns a log's checkpoints while the log only grows
segments    byte ranges of the facets in an event
erasure     erases a facet without changing the leaf
leaf        the leaf that the tree holds for an entry: a commitment to its bytes

All is pure but `keyfile`, `notefile`, `secretfile` and `tokens`, which use the disk.
"""
