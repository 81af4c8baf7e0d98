"""The effects of a change of a dataset or column: the places that it reaches, and whether it breaks them.

types         column types normalized across the spellings of engines
change        a proposed change, and how readers of one type read another
run_groups    a job's runs grouped by equal inputs, outputs and evidence
target_edges  column edges between two datasets
uses          whether later runs still use something; own_uses: columns and datasets that jobs use themselves
checks        data quality checks of columns, which are uses too
reach         every place downstream, with the steps to it; places: the places, and where edges start
effects       the effect of the change on each place, and the step that causes it
"""
