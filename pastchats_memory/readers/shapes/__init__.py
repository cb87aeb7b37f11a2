"""The reader of JSON of unknown shape: from a value to the conversations in it (`understood`), or to none.

First by the names of keys (`containers`, `exchanges`, `message`, `talk`), then, where these do not tell, by what the columns
of its tables look like (`inference`). `naming` and `values` say what a name and a value give away, `lookalikes` what is none.
"""
