"""Rules for possible causes, one file a kind.

runs        failed
missing     should have been, and were not
lifecycle   emptied or dropped
schema      columns that came, went or changed their type
quality     checks that failed
volume      more or fewer rows than usual
code        other code, parameters or engine than before
freshness   silent streams, old or unfinished inputs
"""
