"""``python -m runhold``: the command line."""

from runhold.cli import main

if __name__ == "__main__":
    main()
