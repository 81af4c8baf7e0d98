"""Access control: who calls, what they may do, and what they may see of the answer.

gate         decides for each request; about: what a request concerns; guard: the middleware that asks it
own_machine  the middleware without access control: refuses cross-site requests of browsers
joins        namespaces that an event would join
again        re-checks a caller during an endless answer
rules        the rule of each route
sight        what a caller may see; restricted: restricted columns; words: the vocabulary of our own answers
"""
