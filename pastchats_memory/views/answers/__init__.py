"""Define the answers: each has an id, a title and fields, from which both its JSON object and its schema follow.

`listing` has the answers that are a list of values. The modules of this package have the answers with further fields, by subject,
and the views that show a value in another form. `registry` names every published answer.
"""
