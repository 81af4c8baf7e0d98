"""The log as others can verify it.

proofs      checkpoints, tiles, receipts; cosignatures: witnesses' signatures
retention   moves old raw events out of the database
"""
