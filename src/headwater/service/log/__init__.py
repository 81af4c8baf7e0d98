"""The log as others can verify it.

proofs      checkpoints, tiles, receipts; cosignatures: witnesses' signatures; own_head: the newest head that others saw
retention   moves old raw events out of the database
"""
