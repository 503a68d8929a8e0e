"""`python -m council`."""

import sys

from council.cli import main

sys.exit(main())
