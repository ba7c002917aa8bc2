"""Break the source on purpose, one line at a time, and see whether the tests notice.

``make mutants`` applies each change to a copy of the tree and runs the test files that must catch
it. A mutant that survives shows a formula, a sign or a check that no test holds; one that no longer
applies must be written anew. ``python tests/mutants.py tradaboost`` runs those whose path or text
contains a word.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A text that occurs once in a file of the package, its replacement, and tests to catch it."""

    path: str
    old: str
    new: str
    tests: tuple[str, ...]


def mutant(path: str, old: str, new: str, *tests: str) -> Mutant:
    return Mutant(f"src/landbridge/{path}", old, new, tuple(f"tests/{test}" for test in tests))


TRADABOOST = ("unit/boosting/test_tradaboost.py", "reference/test_boosting_theorems.py")
INFERENCE = "unit/inference/test_intervals.py"
SOURCES = "unit/inference/test_sources.py"
VARIANCES = "reference/test_multi_source_variance.py"
SHIFT = ("unit/inspection/test_shift_parts.py", "unit/inspection/test_shift.py")
SCORING = "unit/metrics/test_scoring.py"
MUTANTS = [
    # Boosting
    mutant("boosting/weight_updates.py", "np.sqrt(2.0 * np.log(max(n_source, 1)) / n_rounds)",
           "np.sqrt(np.log(max(n_source, 1)) / n_rounds)", *TRADABOOST),
    mutant("boosting/weight_updates.py", "np.log((1.0 - error) / error) + np.log(n_classes - 1.0)",
           "np.log((1.0 - error) / error)", *TRADABOOST),
    mutant("boosting/weight_updates.py", "return n_classes * (1.0 - error)\n",
           "return 2.0 * (1.0 - error)\n", *TRADABOOST),
    mutant("boosting/weight_updates.py", "TINY)) + vote * mistakes)",
           "TINY)) - vote * mistakes)", *TRADABOOST),
    mutant("boosting/tradaboost.py", "target *= 2.0", "target *= 1.5", *TRADABOOST),
    mutant("boosting/tradaboost.py", "        doublings = 0\n", "", *TRADABOOST),
    mutant("boosting/tradaboost.py", "counted = CLIP * limit if stalled else error",
           "counted = error", *TRADABOOST),
    mutant("boosting/voting.py", "return votes / (len(self.estimators_) - first)", "return votes",
           *TRADABOOST),
    mutant("boosting/tradaboost_r2.py", "weights[target] *= mass / weights[target].sum()", "pass",
           "unit/boosting/test_tradaboost_r2.py"),
    mutant("boosting/base_learners.py", "scale = 1.0 / weights[inside].mean() * mean_count(",
           "scale = mean_count(", "unit/boosting/test_tradaboost_r2.py"),
    mutant("boosting/tradaboost_r2.py", "running >= 0.5 * running[:, -1:]",
           "running > 0.5 * running[:, -1:]", "unit/boosting/test_tradaboost_r2.py"),
    mutant("boosting/tradaboost_r2.py", "start + step / (n_steps - 1) * (1.0 - start)",
           "start + step / n_steps * (1.0 - start)", "unit/boosting/test_tradaboost_r2.py"),
    # Weighting
    mutant("weighting/rulsif.py", "alpha * target_moment + (1 - alpha) * source_moment",
           "(1 - alpha) * target_moment + alpha * source_moment", "unit/weighting/test_rulsif.py",
           "reference/test_weighting_reference.py"),
    mutant("weighting/rulsif.py", "(a - own_mean * q) / (1 - own_share * q)",
           "(a - own_mean * q) / (1 + own_share * q)", "unit/weighting/test_rulsif.py"),
    mutant("weighting/rulsif.py", "own_share=alpha / (n_t - 1)", "own_share=alpha / n_t",
           "unit/weighting/test_rulsif.py"),
    mutant("weighting/kliep.py", "regret = float(np.log(max(slope.max(), 1.0)))",
           "regret = float(np.log(max(slope.mean(), 1.0)))", "unit/weighting/test_kliep.py"),
    mutant("weighting/kernel_mean_matching.py", "return self.ridge + self.left_out",
           "return self.ridge", "unit/weighting/test_kernel_mean_matching.py"),
    mutant("weighting/_base.py", "(before[0] - target_mean) / unit",
           "(target_mean - before[0]) / unit", "unit/weighting/test_weighting_base.py"),
    mutant("weighting/classifier_ratio.py", "inside = folds != fold",
           "inside = np.ones(len(folds), dtype=bool)", "unit/weighting/test_classifier_ratio.py"),
    mutant("weighting/_gaussian_basis.py", "unit = 1.0 / (2 * median_square(X, X_target, rng))",
           "unit = 1.0 / median_square(X, X_target, rng)", "unit/weighting/test_rulsif.py",
           "unit/weighting/test_kliep.py"),
    # Inference
    mutant("inference/variance.py", "return 2.0 * theta_a(summary)", "return theta_a(summary)",
           SOURCES, INFERENCE),
    mutant("inference/variance.py", "return 2.0 * theta_gamma(summary) - theta_omega(summary)",
           "return 2.0 * theta_gamma(summary) + theta_omega(summary)", SOURCES, VARIANCES),
    mutant("inference/variance.py", "summary.within - float(summary.share @ deviation**2)",
           "summary.within + float(summary.share @ deviation**2)", SOURCES, VARIANCES),
    mutant("inference/intervals.py", "(self.between + within) * (1 / k + 1)",
           "(self.between + within) / k", INFERENCE),
    mutant("inference/intervals.py", "return 1.0 + TRAINING_VARIANCE / n_sources",
           "return 1.0", INFERENCE),
    mutant("inference/intervals.py", "else n_sources - 1)", "else n_sources)", INFERENCE),
    mutant("inference/intervals.py", "centre = (2 * n * rate + z**2) / (2 * (n + z**2))",
           "centre = rate", INFERENCE),
    mutant("inference/comparison.py", "factor = np.arange(p_values.size, 0, -1)",
           "factor = np.arange(1, p_values.size + 1)", "unit/inference/test_comparison.py"),
    mutant("inference/comparison.py", "np.mean(summary.n_rows / (total - summary.n_rows))",
           "np.mean(summary.n_rows / total)", "unit/inference/test_comparison.py"),
    mutant("inference/comparison.py", "return statistic, float(2 * tail)",
           "return statistic, float(tail)", "unit/inference/test_comparison.py"),
    mutant("inference/ranks.py", "(n_sources - 1) * chi2 / room", "n_sources * chi2 / room",
           "unit/inference/test_comparison.py"),
    mutant("inference/bounds.py", "np.log(delta / 4)", "np.log(delta / 2)",
           "unit/inference/test_bounds.py"),
    mutant("inference/control_variate.py", "float(-slope * (g.mean() - everywhere))",
           "float(slope * (g.mean() - everywhere))",
           "unit/inference/test_control_variate.py"),
    mutant("inference/control_variate.py", "left *= (n - 1) / (n - 2)", "pass",
           "unit/inference/test_control_variate.py"),
    mutant("inference/e_process.py", "* (d**2).sum(axis=-1) / 2", "* (d**2).sum(axis=-1) / 4",
           "unit/inference/test_e_process.py"),
    # Inspection
    mutant("inspection/_feature_shift.py", "min(1.0, X.shape[1] * test.pvalue)", "test.pvalue",
           *SHIFT),
    mutant("inspection/_feature_shift.py", "gap = mean_target - mean", "gap = mean - mean_target",
           *SHIFT),
    mutant("inspection/_feature_shift.py", "variance * (X.shape[0] / (X.shape[0] - 1))",
           "variance", *SHIFT),
    mutant("inspection/_label_shift.py", "equal_var=False", "equal_var=True", *SHIFT),
    mutant("inspection/_label_shift.py", "correction=False", "correction=True", *SHIFT),
    mutant("inspection/_mmd.py", "- 2 * across / (m * n)", "- across / (m * n)", *SHIFT),
    mutant("inspection/_mmd.py", "(1 + reached.sum()) / (1 + n_permutations)",
           "reached.sum() / n_permutations", *SHIFT),
    # Maps and kernels
    mutant("mapping/coral.py", "covariance_root(data.X, self.ridge, -0.5)",
           "covariance_root(data.X, self.ridge, 0.5)", "unit/mapping/test_coral.py"),
    mutant("mapping/coral.py", "/ max(X.shape[0] - 1, 1)", "/ X.shape[0]",
           "unit/mapping/test_coral.py"),
    mutant("mapping/subspace_alignment.py", "source_axes.T @ self.target_axes_",
           "self.target_axes_.T @ source_axes", "unit/mapping/test_subspace_alignment.py"),
    mutant("_kernel.py", '"rbf": 0.5 / width**2,', '"rbf": 1 / width**2,',
           "unit/kernels/test_laplacian_rls.py", "reference/test_kernels_reference.py"),
    mutant("kernels/laplacian_rls.py", "smoothness * n_labelled / n_rows", "smoothness",
           "unit/kernels/test_laplacian_rls.py"),
    mutant("kernels/laplacian_rls.py", "ridge = self.ridge * Y.shape[0]", "ridge = self.ridge",
           "unit/kernels/test_laplacian_rls.py"),
    mutant("kernels/laplacian_rls.py", "nearest.maximum(nearest.T)", "nearest",
           "unit/kernels/test_laplacian_rls.py", "unit/kernels/test_tca.py"),
    # Ensemble, neighbours, features
    mutant("ensemble/locally_weighted.py", "return 2 * counts / np.maximum(either, 1)",
           "return counts / np.maximum(either, 1)", "unit/ensemble/test_locally_weighted.py",
           "reference/test_locally_weighted_by_hand.py"),
    mutant("neighbors/nnge.py", "counts.sum(axis=1) / counts[:, 0]",
           "counts.sum(axis=1) / counts[:, 1].clip(1)", "unit/neighbors/test_nnge.py",
           "reference/test_nnge_by_hand.py"),
    mutant("feature_selection/moments.py", "step, step, a.counts * share)",
           "step, step, b.counts * share)", "unit/feature_selection/test_moments.py"),
    mutant("feature_selection/moments.py", "a.means + share[:, None] * step",
           "a.means + step / 2", "unit/feature_selection/test_moments.py"),
    # Metrics and selection
    mutant("metrics/_kernels.py", "- 2.0 * of_truth + 1.0", "- of_truth + 1.0", SCORING),
    mutant("metrics/_kernels.py", "square - mean**2", "square", SCORING),
    mutant("model_selection/anchored.py", "SLOPES = np.linspace(0.0, 4.0, 17)",
           "SLOPES = np.linspace(-4.0, 4.0, 17)", "unit/model_selection/test_anchored.py"),
    mutant("model_selection/anchored.py", "(errors - errors.mean(axis=0)) ** 2",
           "errors**2", "unit/model_selection/test_anchored.py"),
    mutant("model_selection/_sources.py", 'order = order[np.argsort(y[order], kind="stable")]',
           "order = order", "unit/model_selection/test_search_odd_input.py",
           "unit/model_selection/test_search.py"),
    mutant("model_selection/_run.py", "order[(len(order) + 1) // 2 :]",
           "order[len(order) // 2 :]", "unit/model_selection/test_search_results.py"),
    mutant("model_selection/_run.py", "difference.var(ddof=1) / difference.size",
           "difference.var(ddof=1)", "unit/model_selection/test_search_results.py"),
    mutant("model_selection/multi_source_result.py", "(2, 1), (1, 2)", "(1, 2), (2, 1)",
           "unit/model_selection/test_multi_source.py"),
    mutant("model_selection/vote.py", "ROLE_MASS = (0.7, 0.2, 0.1)", "ROLE_MASS = (0.2, 0.7, 0.1)",
           "unit/model_selection/test_vote.py"),
    mutant("model_selection/vote.py", "np.cumsum(costs[order[:most]]).round(6) <= MOST_COST",
           "costs[order[:most]] < np.inf", "unit/model_selection/test_vote.py"),
    mutant("model_selection/vote.py", "-(counts * likelihood / mixture).sum(axis=1)",
           "-(likelihood / mixture).sum(axis=1)", "unit/model_selection/test_vote.py"),
    mutant("model_selection/vote.py", "None if sample_weight is None else sample_weight[~held_out]",
           "None", "unit/model_selection/test_vote.py"),
    mutant("model_selection/vote.py", "in_vote / (costs[best] - OVERHEAD / MOST_COST)",
           "in_vote / (costs.max() - OVERHEAD / MOST_COST)", "unit/model_selection/test_vote.py"),
    mutant("model_selection/vote.py", "in_vote / (costs[best] - OVERHEAD / MOST_COST)",
           "in_vote / costs[best]", "unit/model_selection/test_vote.py"),
    mutant("model_selection/vote.py", "costs - CHECK * np.isin(roles, WRAPPED)", "costs",
           "unit/model_selection/test_vote.py"),
    mutant("model_selection/search_result.py", "relative_costs(alone, roles, self.best)",
           "relative_costs(alone, roles, alone.argmax())", "unit/model_selection/test_vote.py"),
    # Labelling
    mutant("labelling/mixture.py", "(values + np.eye(n_classes, dtype=values.dtype)[labels]) / 2",
           "values", "unit/labelling/test_mixture.py"),
    mutant("labelling/mixture.py", "np.exp(-0.5 * lead**2 / variance)",
           "np.exp(-2.0 * lead**2 / variance)", "unit/labelling/test_mixture.py"),
    mutant("labelling/mixture.py", "together += together.T", "together -= together.T",
           "unit/labelling/test_mixture.py"),
    mutant("labelling/estimates.py",
           "2 / max(float(((parts / total) ** 2).sum()) - 1 / n, 2 / freedom)",
           "freedom", "unit/labelling"),
    mutant("labelling/estimates.py", "variance = total * n / freedom", "variance = total",
           "unit/labelling"),
    mutant("labelling/estimates.py", "wrong * (1 - smooth) ** 2", "wrong * smooth**2",
           "unit/labelling"),
    mutant("labelling/_judge.py", "seen = known.batches <= look",
           "seen = known.batches < look", "unit/labelling"),
    # Files, report and program
    mutant("model_selection/_saved_result.py", "found.max() < end", "found.max() <= end",
           "unit/model_selection/test_search_results.py",
           "unit/model_selection/test_multi_source.py"),
    mutant("report/blocks.py", "(value - faint) / (strong - faint)",
           "(value - strong) / (faint - strong)", "report/test_render.py"),
    mutant("report/layout.py", 'if ranking["higher_is_better"] else (max(known), min(known))',
           'if not ranking["higher_is_better"] else (max(known), min(known))',
           "report/test_render.py"),
    mutant("report/graph.py", "self.share(value - self.ends[0])", "self.share(value)",
           "report/test_render.py"),
    mutant("_storage.py", "if seal is None or digests is None:", "if digests is None:",
           "unit/test_storage.py"),
    mutant("_storage.py", "{plain.dtype.str} {array.shape}", "{array.shape}",
           "unit/test_storage.py"),
    mutant("_validation/checks.py", "whole and np.unique(y).size <= MOST_CLASSES",
           "whole and np.unique(y).size < MOST_CLASSES", "unit/test_validation.py"),
    mutant("_validation/checks.py", "if n_bytes > free:", "if n_bytes > 1000 * free:",
           "unit/test_validation.py", "unit/mapping/test_coral.py",
           "unit/kernels/test_laplacian_rls.py"),
    mutant("cli/_files.py", "infer_schema_length=0,", "infer_schema_length=1000,",
           "cli/test_pieces.py", "cli/test_commands.py"),
    mutant("cli/_columns.py", "found.n_misfits < max(found.n_filled, 1) / 2",
           "found.n_misfits < max(found.n_filled, 1)", "cli/test_columns.py"),
    mutant("cli/_columns.py", "empty = given.is_null().to_numpy()", "pass",
           "cli/test_columns.py"),
    mutant("cli/_columns.py", "MOST_CELLS = 0.9", "MOST_CELLS = 0.5", "cli/test_tables.py"),
    mutant("cli/select.py", "return [name for name in problem.sources if name in chosen]",
           "return problem.sources", "cli/test_commands.py"),
]  # fmt: skip


def main(words: list[str]) -> int:
    """Run the chosen mutants; 1 if one survives or no longer applies."""
    chosen = [m for m in MUTANTS if all(word in m.path + m.old + m.new for word in words)]
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("src", "tests", "benchmarks", "pyproject.toml", "README.md", "docs"):
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
        for number, each in enumerate(chosen, start=1):
            answer = run(each, copy)
            survivors += answer != "caught"
            print(
                f"{number:3d} of {len(chosen)} {answer:9s} {each.path}: {each.old!r} → {each.new!r}"
            )
            sys.stdout.flush()
    print(f"{len(chosen) - survivors} of {len(chosen)} mutants were caught.")
    return int(survivors > 0)


def run(each: Mutant, copy: Path) -> str:
    """Apply a mutant to the copy, run its tests, and take it back."""
    path = copy / each.path
    text = path.read_text()
    if text.count(each.old) != 1:
        return "STALE"
    path.write_text(text.replace(each.old, each.new))
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *each.tests],
            cwd=copy,
            env={**os.environ, **THREADS, "PYTHONPATH": str(copy / "src")},
            capture_output=True,
        )
    finally:
        path.write_text(text)
    # 1: a test failed. 2 and more: nothing was collected, or pytest itself was stopped.
    return {0: "SURVIVED", 1: "caught"}.get(done.returncode, "BROKEN")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
