"""The demo: a whole story through the client, and the same client against a service that keeps being killed."""
