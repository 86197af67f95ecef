"""Does the model find mistakes? Twenty-odd realistic ones, each put into a service of its own, and hunted.

``python -m tests.model.seeded_bugs`` hunts them all. A bug is a patch of one named rule, applied inside the service's
process before it serves (``serve.py``): the product itself knows nothing of it. The same Hypothesis machine that tests
the service plays against each until service and model disagree; the commands are then reduced to the fewest that still
show it.
"""
