"""Generated from openapi.yaml by client/generate.py; not edited by hand."""
