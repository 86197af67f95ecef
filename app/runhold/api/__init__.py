"""HTTP only, a file a concept: read a request, call one command or query, write its answer."""
