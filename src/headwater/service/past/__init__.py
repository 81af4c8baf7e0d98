"""What would be known, had only some of the events come.

pasts           those that were asked for, made and kept
cut_past        one that is cut out of what is known now; replayed_past: made by replaying the log
knowledge_then  what was known, beside what is known now
same_now        what is the same now as then; rendered_of_now: what is but for times
heard_by_then   when jobs and datasets had been heard of; activities_then: what jobs had done
tallies_then    what jobs and datasets added to the numbers of all
doubtful        who may have been otherwise although nothing was told of it since
may_differ      which jobs and datasets may differ between then and now, for who compares
older_facets    what was told of jobs and datasets that was told anew since
"""
