"""
Do book reviews help to classify kitchen reviews?
=================================================

Text is encoded as sparse TF-IDF, which candidates accept. The reviews are generated from word
lists, so that the example runs offline: some words mean the same everywhere ("great",
"disappointing"), others occur for one product only.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from landbridge import Pooled, SourceOnly, TargetOnly, TransferSearchCV

rng = np.random.default_rng(0)
SHARED = {
    "good": ["great", "excellent", "love", "wonderful", "perfect"],
    "bad": ["poor", "disappointing", "waste", "terrible", "boring"],
}
OWN = {
    "books": {
        "good": ["gripping", "moving", "insightful"],
        "bad": ["shallow", "predictable", "slow"],
    },
    "kitchen": {"good": ["sharp", "sturdy", "nonstick"], "bad": ["rusty", "leaking", "wobbly"]},
}
FILLER = {
    "books": ["chapter", "author", "story", "page", "ending", "character"],
    "kitchen": ["pan", "knife", "handle", "blade", "kettle", "lid"],
}


def reviews(product, n_rows):
    labels = rng.choice(["good", "bad"], n_rows)
    texts = [
        " ".join(
            [
                *rng.choice(SHARED[rng.choice([label, "good", "bad"], p=[0.6, 0.2, 0.2])], 1),
                *rng.choice(OWN[product][label if rng.random() < 0.8 else "good"], 1),
                *rng.choice(FILLER[product], 8),
            ]
        )
        for label in labels
    ]
    return texts, labels


books, y = reviews("books", 600)
kitchen, y_kitchen = reviews("kitchen", 600)
terms = TfidfVectorizer().fit([*books, *kitchen])
X, X_kitchen = terms.transform(books), terms.transform(kitchen)

linear = LogisticRegression(max_iter=1000)
search = TransferSearchCV(
    {
        "source-only": SourceOnly(linear),
        "target-only": TargetOnly(linear),
        "pooled": Pooled(linear),
    },
    random_state=0,
).fit(X, y, X_target=X_kitchen[:60], y_target=y_kitchen[:60], X_unlabeled=X_kitchen[60:])

print(search.interval(0.9))
print(f"on the other 540 reviews: {search.score(X_kitchen[60:], y_kitchen[60:]):.3f}")
search.plot()
plt.show()
