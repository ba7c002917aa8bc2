"""
Hello
=====

Test.
"""

import matplotlib.pyplot as plt

from landbridge import CORAL

plt.plot([1, 2])
CORAL()
