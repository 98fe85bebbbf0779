"""`python -m tracert`."""

import sys

from tracert.cli import main

# A process that the benchmark starts imports this module under another name.
if __name__ == "__main__":
    sys.exit(main())
