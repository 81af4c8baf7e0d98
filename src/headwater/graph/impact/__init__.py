"""What a change of a dataset or column reaches, and whether it breaks there.

types         column types normalized across the spellings of engines
change        a proposed change, and which types can be read as which
run_groups    a job's runs grouped by equal inputs, outputs and evidence
target_edges  column edges between two datasets
uses          whether later runs still use something; own_uses: what jobs use themselves
checks        data quality checks of columns, which are uses too
reach         every place downstream, with the steps to it; places: the places, and where edges start
effects       what the change does to each place, and by which step
"""
