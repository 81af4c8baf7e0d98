"""Rules for possible causes, one file a kind.

runs        failed
missing     should have been, and were not
lifecycle   emptied or dropped
schema      columns that came, went or changed their type
quality     checks that failed
volume      more or fewer rows than usual
code        other code, parameters or engine than before
sources     columns taken from other columns than before
newcomers   jobs that write a dataset for the first time, beside others
reruns      runs for a nominal time that was passed, such as backfills
freshness   silent streams, old or unfinished inputs
schedules   inputs that are older at each read than before
"""
