"""An independent model of the storage contract, and the tests it drives.

The model is written from the contract alone and shares no code with the service: it imports nothing from `app/`,
so that a rule misread in one place disagrees with the other instead of being wrong twice.
"""
