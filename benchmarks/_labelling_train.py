"""Labels to train with: a pooled logistic regression that is fitted again after every batch."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks._domains import DomainTask, draw_rows
from landbridge import LabelPlanner, Pooled

DRAWS, SIZES, BATCH = 5, (20, 50), 10


def train_runs(task: DomainTask) -> Iterator[dict[str, Any]]:
    """Accuracy on held-out target rows by draw, strategy and number of labels."""
    for draw in range(DRAWS):
        rows = draw_rows(task, draw)
        classes = np.unique(rows.y)
        keep, test = np.isin(rows.y_target, classes), np.isin(rows.y_test, classes)
        for name, share in (("planner", 0.25), ("random", 1.0)):
            planner = LabelPlanner("train", batch_size=BATCH, random_share=share, random_state=draw)
            yield {
                "draw": draw,
                "strategy": name,
                **_accuracies(
                    planner,
                    (rows.X, rows.y),
                    (rows.X_target[keep], rows.y_target[keep]),
                    (rows.X_test[test], rows.y_test[test]),
                ),
            }


def _accuracies(planner: LabelPlanner, source: Any, pool: Any, test: Any) -> dict[str, float]:
    X_pool, y_pool = pool
    model = LogisticRegression(max_iter=200).fit(*source)
    found, known = {}, np.empty(0, dtype=int)
    while known.size < max(SIZES):
        batch = planner.ask_from_predictions(
            model.predict_proba(X_pool)[None], classes=model.classes_
        )
        planner.tell(batch.rows, y_pool[batch.rows])
        known = planner.labelled_[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = Pooled(LogisticRegression(max_iter=200)).fit(
                *source, X_target=X_pool[known], y_target=y_pool[known]
            )
        if known.size in SIZES:
            found[str(known.size)] = float(model.score(*test))
    return found
