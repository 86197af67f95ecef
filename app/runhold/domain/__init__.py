"""The rules: frozen values and pure functions. No HTTP, no SQL, no clock."""
