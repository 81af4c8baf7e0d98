"""Why an output is wrong: what changed upstream, along the very runs that fed it.

record     what one run reported, folded from its events; readings: parsed facets, cached by content
history    what the walk needs from the store of past runs
parent_runs  runs that never began because their parent run failed before
attempts   runs that failed and were not superseded by a later run
visit      a run on the way up, what fed it, and its baseline runs
writers    which runs wrote what was read, and by which evidence
meanwhile  what else wrote between two reads
columns    which columns matter, of what a run wrote and of what it read
trail      from a run upwards, through the runs that wrote what it read
rhythm     how often a job's runs end
lateness   whether a job's last run is older than it should be
since      since which run something has been as it is now
finding    something that changed or went wrong, and where
rules      one file per kind of finding
words      time spans and short lists as text
rank       findings in order: likely causes before their consequences
"""
