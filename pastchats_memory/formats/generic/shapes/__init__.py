"""The reader of JSON of unknown shape: from a value to the conversations in it (`understood`), or to none.

Objects that by the names of their keys are messages or exchanges (`message`, `exchanges`, in `containers` of them) are understood
one by one, however many a file has. All that only several records tell together, such as rows, pairs, pages of text and keys that
are in no table, is understood by what columns look like (`inference`). `naming` and `values` say what a name and a value give away, `lookalikes` what is none.
"""
