"""The documentation is tested: its programs run, its commands are known to work, its tables are held to the code."""
