"""What would be known, had only some of the events come.

pasts       those that were asked for, made and kept
cut         one that is cut out of what is known now; replay: made by replaying the log
then        what was known, beside what is known now; activities_then: what jobs had done
otherwise   which jobs and datasets may be otherwise now, for who compares
older       what was told of jobs and datasets that was told anew since
"""
