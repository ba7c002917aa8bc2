"""Result of a T-greedy path."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from landbridge._html import card, html_table
from landbridge._typing import Vector
from landbridge.feature_selection.statistics import Statistics
from landbridge.feature_selection.stopping import corollary_3, held_out_losses, number_of_steps
from landbridge.feature_selection.t_greedy import Walk, greedy_path

# Number of rows shown in a notebook.
MOST_SHOWN = 10


@dataclass(frozen=True, slots=True, eq=False)
class FeaturePath:
    """Steps of a feature path.

    Parameters
    ----------
    feature : ndarray
        Index of the feature that the step picked.
    feature_name : ndarray
        Its name, or the index if the columns had no names.
    T : ndarray
        T statistic of the feature before the step.
    effect : ndarray
        Mean effect μ of the feature over the domains before the step.
    effects : ndarray
        Effect of the feature in each domain before the step, steps × domains.
    delta : ndarray
        Amount that a stagewise step adds to the weight of the feature.
    weight : ndarray
        Weight of the feature after the step.
    loss : ndarray
        Squared loss in each domain after 0, 1, … steps, (steps + 1) × domains.
    held_out_loss : ndarray
        The same on each domain of a path fitted without it; NaN unless ``stop="domain"``.
    bound : ndarray
        Bound of Corollary 3 for the features chosen so far, in units of the squared loss.
    bound_holds : ndarray
        Whether the condition of the bound holds.
    domains : ndarray
        Names of the domains, in the order of the columns above.
    n_kept : int
        Number of steps in the selected model.
    """

    feature: Vector
    feature_name: Vector
    T: Vector
    effect: Vector
    effects: np.ndarray
    delta: Vector
    weight: Vector
    loss: np.ndarray
    held_out_loss: np.ndarray
    bound: Vector
    bound_holds: Vector
    domains: Vector
    n_kept: int

    def __len__(self) -> int:
        return self.feature.size

    def __repr__(self) -> str:
        picks = ", ".join(
            f"{i} (T={T:.3g})" for i, T in zip(self.feature_name[:5], self.T[:5], strict=True)
        )
        more = ", …" if len(self) > 5 else ""
        return f"FeaturePath({len(self)} steps, {self.n_kept} kept: {picks}{more})"

    def _repr_html_(self) -> str:
        rows = [
            (step, str(name), float(T), float(effect), "yes" if step <= self.n_kept else "no")
            for step, name, T, effect in zip(
                range(1, MOST_SHOWN + 1), self.feature_name, self.T, self.effect, strict=False
            )
        ]
        header = ("step", "feature", "T", "mean effect", "kept")
        head = f"Feature path: {self.n_kept} of {len(self)} steps kept"
        return card(head, html_table(header, rows))


def follow_path(
    statistics: Statistics,
    domains: Vector,
    *,
    stop: str | None,
    names: list[str] | None = None,
    **options: Any,
) -> tuple[FeaturePath, Walk]:
    """Compute the path, evaluate held-out domains, and choose the number of steps to keep."""
    walk = greedy_path(statistics, **options)
    n_steps, n = walk.feature.size, domains.size
    held_out = np.full((n_steps + 1, n), np.nan)
    if stop == "domain":
        held_out = held_out_losses(statistics, n_steps, **options)
    alpha = options["alpha"]
    bound, holds = np.empty(0), np.empty(0, dtype=bool)
    if n_steps:
        bound, holds = corollary_3(statistics, walk, alpha, center=options["center"])
    kept = n_steps
    if options["n_features"] is None:
        kept = number_of_steps(stop, walk.T, held_out, statistics.means.shape[1], alpha)
    order = np.argsort(walk.selected)
    place = order[np.searchsorted(walk.selected, walk.feature, sorter=order)]
    path = FeaturePath(
        feature=walk.feature,
        feature_name=walk.feature if names is None else np.array(names, dtype=object)[walk.feature],
        T=walk.T,
        effect=walk.effects.mean(axis=1),
        effects=walk.effects,
        delta=walk.delta,
        weight=walk.weights[np.arange(n_steps), place],
        loss=walk.losses,
        held_out_loss=held_out,
        bound=bound,
        bound_holds=holds,
        domains=domains,
        n_kept=kept,
    )
    return path, walk


def coefficients(walk: Walk, n_kept: int, n_features: int) -> tuple[Vector, Vector]:
    """Features chosen by the first ``n_kept`` steps, and the weights after these steps."""
    support, weights = np.zeros(n_features, dtype=bool), np.zeros(n_features)
    if n_kept:
        support[walk.feature[:n_kept]] = True
        weights[walk.selected] = walk.weights[n_kept - 1]
    return support, weights
