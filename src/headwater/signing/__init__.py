"""Canonical form, signatures and keys: what makes an event provable.

canonical   the one form of a JSON text that is hashed and signed
facet       the signature facet: its place, its members, what each must say
chain       the chain facet: the event's place in its node's record
sign        event in, signed event out; records: the same for rows of data
verify      event in, verdict out
ed25519     whether a signature is good
keys        a node's key and its key id
keyfile     the key on disk
notefile    the key of a log or of a witness on disk
secretfile  files that only their owner may read
directory   statements about keys: enrolled, replaced, revoked; standing: which of them count
tokens      one-time tokens by which keys are enrolled
jwks        public keys as a JSON Web Key Set
merkle      the tree over a log, and proofs about it
note        signed notes, and the keys of logs and witnesses
checkpoint  the head of a log as a note
witness     signs a log's head while it only grows
segments    where the facets stand in an event's bytes
erasure     a facet goes, the leaf stays
leaf        what the tree holds of an entry

All is pure but `keyfile`, `notefile`, `secretfile` and `tokens`, which use the disk.
"""
