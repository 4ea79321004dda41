"""`method="auto"`: learn what is cheap to learn, choose a chain of methods, go along it until the answer is certain.

`features` is what is learnt, `rules` the table of who is asked when, `presolve` what is done to a problem beforehand,
`small` the short way of small dense problems, `chain` the way through all of it.
"""
