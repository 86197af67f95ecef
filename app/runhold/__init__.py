"""Runhold: the durable home of agent runs."""
