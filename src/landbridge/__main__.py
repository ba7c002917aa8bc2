"""``python -m landbridge`` is the program ``landbridge``."""

from landbridge.cli import main

if __name__ == "__main__":
    main()
