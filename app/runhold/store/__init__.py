"""SQL only: the schema, the two databases, and what is read from them."""
