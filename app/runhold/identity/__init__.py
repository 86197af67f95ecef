"""Who calls, where identity is configured: API keys in a file of hashes, and tokens of an OpenID Connect issuer."""
