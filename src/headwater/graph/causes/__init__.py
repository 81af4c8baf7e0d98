"""Why an output is wrong: what changed upstream, along the very runs that fed it.

record     the reports of one run, folded from its events; readings: parsed facets, cached by content
history    the walk's interface to the store of past runs
parent_runs  runs that never began because their parent run failed before
attempts   runs that failed and were not superseded by a later run
visit      a run visited on the walk upstream, what fed it, and its baseline runs
writers    the runs that wrote what was read, and the evidence for it
meanwhile  the other runs that wrote between two reads
columns    the relevant columns among those that a run wrote and read
trail      the walk from a run upstream, through the runs that wrote what it read
rhythm     the usual interval between the ends of a job's runs
lateness   whether a job's last run is older than it should be
further_back  the runs before those, of which only a few are read
row_counts  whether a number of rows is unusual, also for this time of the day or week
since      the run since which a state has not changed
finding    something that changed or went wrong, and where
rules      one file per kind of finding
words      time spans and lists as text
rank       findings in order: likely causes before their consequences
"""
