"""cloudpickle, which joblib bundles or requires depending on its version.

It also pickles lambdas and functions of ``__main__``. Its output goes through pipes and private
temporary files to processes of the same run, never into a file that a later run reads.
"""

try:
    from cloudpickle import dumps
except ImportError:
    from joblib.externals.cloudpickle import dumps

__all__ = ["dumps"]
