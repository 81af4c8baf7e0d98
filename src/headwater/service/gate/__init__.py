"""Who asks, may they, and what may they see of the answer?

gate         asked of each request; about: what that is about; guard: at the door of the app
own_machine  stands there instead where nobody is asked who calls: refuses pages from elsewhere
joins        what an event calls one dataset
again        asked again, of an answer that does not end
rules        what each route takes
sight        what a caller may see; restricted: which columns are; words: what our own answers are made of
"""
