"""Proves a database: every invariant of the contract, read from the rows, with the wrong ones named and never changed.

``findings`` says what can be wrong; ``runs`` and ``sessions`` hold the rules as pure functions; ``walk`` goes through a
database one snapshot a session at a time, so that writers go on meanwhile.
"""
