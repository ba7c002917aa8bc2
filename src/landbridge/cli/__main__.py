"""``python -m landbridge.cli``."""

from landbridge.cli import main

main()
