"""T-greedy on datasets in pieces."""

import numpy as np
import polars as pl
import pyarrow.dataset as ds
import pytest

from landbridge import TGreedySelector

QUESTION = {"label": "y", "domain": "site"}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    site = rng.choice(["a", "b", "c"], size=300)
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, "yes", "no")
    return pl.DataFrame({"u": X[:, 0], "v": X[:, 1], "w": X[:, 2], "y": y, "site": site})


def same(model, other):
    assert model.path_.feature.tolist() == other.path_.feature.tolist()
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-9)
    assert model.classes_.tolist() == other.classes_.tolist()
    assert model.feature_names_in_.tolist() == other.feature_names_in_.tolist()
    assert model.moments_.counts.tolist() == other.moments_.counts.tolist()


def test_a_pyarrow_dataset_gives_the_answer_of_its_rows(table, tmp_path):
    # The first class of the second file is another one than that of the first.
    for number, part in enumerate([table[:40], table[40:].sort("y", descending=True)]):
        part.write_parquet(tmp_path / f"{number}.parquet", row_group_size=25)
    table.clear().write_parquet(tmp_path / "2.parquet")
    table.write_parquet(tmp_path.parent / "whole.parquet")
    whole = TGreedySelector(n_features=2).fit_file(tmp_path.parent / "whole.parquet", **QUESTION)
    dataset = ds.dataset(tmp_path, format="parquet")
    models = [
        TGreedySelector(n_features=2).fit_dataset(dataset, **QUESTION, n_jobs=n, batch_size=10)
        for n in (1, 2)
    ]
    same(models[0], whole)
    assert models[0].coef_.tobytes() == models[1].coef_.tobytes()
    some = TGreedySelector(n_features=1).fit_dataset(dataset, **QUESTION, features=["w", "u"])
    assert some.get_feature_names_out().tolist() == ["u"]


def test_folders_that_name_the_domain(table, tmp_path):
    table.write_parquet(tmp_path / "whole.parquet")
    for (site,), part in table.partition_by("site", as_dict=True).items():
        (tmp_path / f"site={site}").mkdir()
        part.drop("site").write_parquet(tmp_path / f"site={site}" / "0.parquet")
    files = sorted(map(str, tmp_path.glob("site=*/*.parquet")))
    dataset = ds.dataset(files, format="parquet", partitioning="hive")
    same(
        TGreedySelector(n_features=2).fit_dataset(dataset, **QUESTION),
        TGreedySelector(n_features=2).fit_file(tmp_path / "whole.parquet", **QUESTION),
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_dask_frame_gives_the_answer_of_its_rows(table, tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    table.write_parquet(tmp_path / "whole.parquet")
    frame = dd.from_pandas(table.to_pandas(), npartitions=4)
    same(
        TGreedySelector(n_features=2).fit_dataset(frame, **QUESTION),
        TGreedySelector(n_features=2).fit_file(tmp_path / "whole.parquet", **QUESTION),
    )


def test_what_is_no_dataset_is_refused(table, tmp_path):
    with pytest.raises(TypeError, match="`dataset` must be a pyarrow dataset or a Dask data frame"):
        TGreedySelector().fit_dataset(table, **QUESTION)
    table.clear().write_parquet(tmp_path / "0.parquet")
    with pytest.raises(ValueError, match="`dataset` must have at least one row"):
        TGreedySelector().fit_dataset(ds.dataset(tmp_path / "0.parquet"), **QUESTION)
    table.write_parquet(tmp_path / "1.parquet")
    with pytest.raises(ValueError, match="`label` must be a column of the file; got 'z'"):
        TGreedySelector().fit_dataset(ds.dataset(tmp_path / "1.parquet"), label="z", domain="site")
