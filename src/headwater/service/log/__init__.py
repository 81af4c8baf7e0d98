"""The log as others check it.

proofs      its head, tiles, receipts; cosignatures: what witnesses signed of it
retention   raw events that have become old move out of the database
"""
