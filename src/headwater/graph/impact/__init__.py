"""What a change of a dataset or column reaches, and whether it breaks what it reaches.

types    types as they are compared, across the spellings of engines
change   a change that somebody proposes, and which types can be read as which
alike    runs of a job that did alike, taken together
told     column edges between two datasets
uses     uses that later runs do without; own_uses: what jobs use themselves
checks   checks of columns, which are uses too
reach    every place downstream, with each step that leads there
effects  what the change does to each place, and by which step
"""
