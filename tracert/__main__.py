"""`python -m tracert`."""

import sys

from tracert.cli import main

if __name__ == "__main__":
    sys.exit(main())
