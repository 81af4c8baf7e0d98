"""What may have changed, one file a kind.

runs        failed or missing
schema      columns that came, went or changed their type
quality     checks that failed
volume      more or fewer rows than usual
code        other code, parameters or engine than before
freshness   silent streams, old or unfinished inputs
"""
