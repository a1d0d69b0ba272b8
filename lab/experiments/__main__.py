"""The old name of ``python -m lab.evidence``, which still works and prints the new name."""

import sys

from lab.evidence.__main__ import main

if __name__ == "__main__":
    print("This command is now called python -m lab.evidence.", file=sys.stderr)
    sys.exit(main())
