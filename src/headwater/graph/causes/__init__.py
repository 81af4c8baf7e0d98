"""Why an output is wrong: what changed upstream, along the very runs that fed it.

record     what one run told, folded from its events; readings: facets as it is read from them
history    what the walk asks of whoever keeps the past
wholes     runs that never began, since what they were to be a part of failed before
attempts   runs that failed, and that no later run made good
visit      a run on the way up, what fed it, and what it is compared with
writers    which runs wrote what was read, and by which evidence
meanwhile  what else wrote between two reads
columns    which columns matter, of what a run wrote and of what it read
trail      from a run upwards, through those that wrote what it read
rhythm     how often a job's runs end
lateness   whether a job's last run is older than it should be
since      since which run something is as it is now
finding    something that changed or went wrong, and where
rules      one file a kind of finding
words      spans of time, short lists
rank       findings in order: likely causes before their consequences
"""
