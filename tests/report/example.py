"""A summary with every part, and with names that would do harm if they were not escaped."""

from typing import Any

EVIL = "<script>alert(1)</script>"
NAMES = ["pooled linear", f"svm C=1 {EVIL}", "target-only linear", "source-only trees"]


def example_summary() -> dict[str, Any]:
    """Plain values only, as they come back from a JSON file."""
    return {
        "format": 2,
        "title": f"quality of wine: red & rosé → white {EVIL}",
        "subtitle": "Transfer report",
        "verdict": [
            "Train pooled linear on red: accuracy 0.54 on white (0.49 to 0.59).",
            f"Transfer is worth it: it beats {EVIL}.",
        ],
        "checks": [
            {"name": "Target labels", "state": "ok", "text": "100 labelled target rows."},
            {"name": "Weights", "state": "caution", "text": "They rest on 40 of 1599 rows."},
            {"name": EVIL, "state": "problem", "text": "The label is constant in one source."},
        ],
        "ranking": {
            "score": "accuracy",
            "other_scores": ["balanced accuracy"],
            "higher_is_better": True,
            "answer": "vote",
            "of_target": True,
            "beats_baseline": True,
            "baseline": {"name": "majority class", "score": 0.4},
            "simplest": None,
            "vote": {
                "learnt": "labels",
                "members": [
                    {"name": NAMES[k], "weight": 0.25, "disagreement": 0.1 * k} for k in range(4)
                ],
            },
            "classes": {
                "names": ["good", EVIL],
                "rows": [70.0, 30.0],
                "predicted": [75.0, 25.0],
                "recall": [0.9, None],
                "precision": [0.84, 0.7],
                "confusion": [[63.0, 7.0], [12.0, 18.0]],
                "rarest": 1,
                "rarest_share": 0.3,
                "is_rare": False,
                "never": [],
                "seldom": [],
                "suggested_metric": None,
            },
            "label_check": {
                "representative": True,
                "withheld": False,
                "p_value": 0.4,
                "auc": 0.52,
                "effective_rows": 100.0,
                "overlap": 1.0,
                "labelled": 100,
                "unlabelled": 900,
                "columns": [{"name": EVIL}],
                "words": "",
            },
            "lead": {
                "best": NAMES[0],
                "rival": EVIL,
                "e_value": 3.0,
                "probability": 0.7,
                "decided": False,
                "rows": 100,
            },
            "worth": {"shown": True, "words": f"Transfer beats {EVIL}.", "unbeaten": []},
            "to_decide": None,
            "agreement": None,
            "only_class": None,
            "labels_needed": None,
            "sampling": None,
            "criterion": {"name": "anchored", "words": "Ranked by the criterion anchored."},
            "interval": {
                "level": 0.95,
                "words": "Intervals of 95 % are based on 100 rows.",
                "withheld": None,
            },
            "candidates": [
                {
                    "rank": 1 + k,
                    "name": NAMES[k % 4],
                    "source": ["red", "rosé"][k // 4],
                    "show_source": True,
                    "score": None if k == 7 else 0.55 - 0.02 * k,
                    "low": None if k == 7 else 0.5 - 0.02 * k,
                    "high": None if k == 7 else 0.6 - 0.02 * k,
                    "other_scores": [0.5],
                    "weight": 0.0 if k > 3 else 0.25,
                    "role": "pooled",
                    "status": "failed" if k == 7 else "complete",
                    "seconds": 0.2 + k,
                    "note": "failed" if k == 7 else "",
                }
                for k in range(8)
            ],
            "matrix": {
                "sources": ["red", "rosé"],
                "candidates": NAMES,
                "values": [[0.55, 0.53, 0.51, 0.49], [0.47, 0.45, 0.43, None]],
            },
            "pairwise": {
                "names": NAMES,
                "values": [[0.5 + 0.1 * (j - i) for j in range(4)] for i in range(4)],
                "words": "From the same labelled rows.",
            },
        },
        "shift": {
            "target": "white",
            "sources": [
                {
                    "source": name,
                    "rows": 1599,
                    "auc": 0.99,
                    "auc_low": 0.98,
                    "auc_high": 0.995,
                    "mmd_p_value": 0.001,
                    "detected": True,
                    "n_moved": 10,
                    "effective_rows": 1000 * share,
                    "effective_share": share,
                    "weighted_rows": 1000,
                    "largest_share": 0.2,
                    "gap_before": 2.1,
                    "gap_after": 0.3,
                    "words": "The domains differ strongly.",
                    "features": [
                        {
                            "name": EVIL if k == 3 else f"feature {k}",
                            "distance": 0.9 - 0.08 * k,
                            "mean_difference": None if k == 4 else 1.0 - k / 5,
                            "variance_ratio": 1.2,
                            "p_value": 1e-10,
                        }
                        for k in range(11)
                    ],
                }
                for name, share in (("red", 0.04), ("rosé", 0.5))
            ],
        },
        "sources": {
            "metric": "error",
            "other_metrics": ["log loss"],
            "words": ["Expected error on a new source: 0.24, 95 % between 0.12 and 0.37."],
            "per_source": [
                {
                    "source": f"s{k}",
                    "rows": 100,
                    "mean": 0.2 + k / 50,
                    "low": 0.1,
                    "high": 0.4,
                    "baseline": 0.5,
                    "other_metrics": [0.6],
                }
                for k in range(5)
            ],
            "intervals": [
                {
                    "question": question,
                    "estimate": 0.24,
                    "low": 0.24 - width,
                    "high": 0.24 + width,
                    "words": f"about {question}",
                }
                for question, width in (("new source", 0.13), ("population", 0.06), ("fixed", 0.02))
            ],
        },
        "features": {
            "words": ["Two features keep their meaning."],
            "domains": ["red", "rosé", "white"],
            "picked": [
                {
                    "feature": name,
                    "t": 9.1,
                    "weight": 0.4,
                    "mean_effect": 0.4,
                    "effects": [0.3, 0.4, 0.5],
                }
                for name in ("alcohol", EVIL)
            ],
        },
        "data": {
            "label": "quality",
            "task": "classification",
            "target": "white",
            "domains": [
                {
                    "name": name,
                    "role": role,
                    "rows": 1599,
                    "labelled": labelled,
                    "missing": 0.01,
                    "labels": "5: 43 %, 6: 40 %",
                }
                for name, role, labelled in (("red", "source", 1599), ("white", "target", 100))
            ],
            "columns": [{"name": EVIL, "type": "number", "missing": 0.0}],
        },
        "origin": {
            "date": "2026-01-01T00:00:00+00:00",
            "seed": 0,
            "command": f"landbridge select wine.csv --label '{EVIL}'",
            "versions": {"landbridge": "0.1.0"},
        },
    }
