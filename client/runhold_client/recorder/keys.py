"""The event keys under which a recorder stores the records of a run's own life.

A run that another worker started may use others: then those that are stored are used.
"""

STARTED_KEY = "run/started"
STOPPED_KEY = "run/stopped"
"""Of the ``run_completed`` record that a start stores when its session has ended."""
SUSPENDED_KEY = "run/suspended"
CANCELLATION_KEY = "run/cancellation"
COMPLETED_KEY = "run/completed"
