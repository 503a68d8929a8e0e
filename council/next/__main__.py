"""Runs the command line: `python -m council.next`."""

import sys

from council.next.cli import main

sys.exit(main())
