"""The colours of every picture: Displays, reports and notebooks.

Blue and orange can be told apart with any kind of colour vision. The style sheet of the report
repeats these values and adds those for dark pages.
"""

ACCENT, STRONG, QUIET, INK = "#0b6bcb", "#b3450b", "#57606a", "#1b1f24"
# Colours of categories: the two above and five from the palette of Okabe and Ito.
NAMES = (ACCENT, STRONG, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
