"""Each loader on a small file of the same form, with every value known."""

import gzip

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from landbridge import datasets


def write(path, text, *, encoding="utf-8"):
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def test_wine_quality(tmp_path):
    for colour, rows in {"red": "7.4;0.7;5\n7.8;0.88;6\n", "white": "7;0.27;4\n"}.items():
        write(tmp_path / f"wine_quality/winequality-{colour}.csv", f'"acid";"pH";"quality"\n{rows}')
    wine = datasets.fetch_wine_quality(data_home=tmp_path)
    assert wine.data.tolist() == [[7.4, 0.7], [7.8, 0.88], [7, 0.27]]
    assert wine.target.tolist() == [5, 6, 4]
    assert wine.domain.tolist() == ["red", "red", "white"]
    assert wine.feature_names == ["acid", "pH"]


def test_abalone(tmp_path):
    row = "0.455,0.365,0.095,0.514,0.2245,0.101,0.15"
    write(tmp_path / "abalone/abalone.data", f"M,{row},15\nI,{row},7\n\n")
    shells = datasets.fetch_abalone(data_home=tmp_path)
    assert shells.data.shape == (2, 7) == (2, len(shells.feature_names))
    assert shells.target.tolist() == [15, 7]
    assert shells.domain.tolist() == ["M", "I"]


def test_bike_sharing_leaves_the_parts_of_the_count_out(tmp_path):
    write(
        tmp_path / "bike_sharing/hour.csv",
        "instant,dteday,season,yr,mnth,hr,holiday,weekday,workingday,weathersit,temp,atemp,hum,"
        "windspeed,casual,registered,cnt\r\n"
        "1,2011-01-01,1,0,1,0,0,6,0,1,0.24,0.2879,0.81,0,3,13,16\r\n\n"
        "2,2012-07-01,3,1,7,5 ,0,0,0,1,0.5,0.5,0.81,0.1,2,2,4\r\n",
    )
    rides = datasets.fetch_bike_sharing(data_home=tmp_path)
    assert rides.data[0].tolist() == [1, 1, 0, 0, 6, 0, 1, 0.24, 0.2879, 0.81, 0]
    assert rides.data.shape[1] == len(rides.feature_names)
    assert rides.target.tolist() == [16, 4]
    assert rides.domain.tolist() == ["2011", "2012"]
    assert rides.season.tolist() == [1, 3]
    assert rides.date.tolist() == ["2011-01-01", "2012-07-01"]


def test_ujiindoorloc_puts_what_was_not_seen_below_the_weakest(tmp_path):
    points = [f"WAP{k:03d}" for k in range(1, 521)]
    place = "LONGITUDE,LATITUDE,FLOOR,BUILDINGID,SPACEID,RELATIVEPOSITION,USERID,PHONEID,TIMESTAMP"
    header = ",".join([*points, place])
    signals = ",".join(["-90", *["100"] * 519])
    row = f"{signals},-7541.2,4864920.7,2,1,106,2,3,23,1371713733"
    write(tmp_path / "ujiindoorloc/trainingData.csv.gz", f"{header}\n{row}\n{row}\n")
    write(tmp_path / "ujiindoorloc/validationData.csv", f"{header}\n{row}\n")
    places = datasets.fetch_ujiindoorloc(data_home=tmp_path)
    assert places.data.shape == (3, 520)
    assert places.data[0, :2].tolist() == [-90, -105]
    assert places.target[0].tolist() == [1, 2, -7541.2, 4864920.7]
    assert places.domain.tolist() == ["23"] * 3
    assert places.user.tolist() == [3] * 3
    assert places.split.tolist() == ["train", "train", "test"]
    assert (places.building.tolist(), places.floor.tolist()) == ([1] * 3, [2] * 3)


def test_reviews_keep_empty_texts_and_read_both_encodings(tmp_path):
    from landbridge.datasets._fetch import REVIEW_DOMAINS

    for domain in REVIEW_DOMAINS:
        folder = tmp_path / "fdu_mtl"
        encoding = "latin-1" if domain == "MR" else "utf-8"
        write(folder / f"{domain}.task.train.gz", "1\tcaf\xe9 \n0\t\n", encoding=encoding)
        write(folder / f"{domain}.task.test.gz", "0\tbad \n")
        write(folder / f"{domain}.task.unlabel.gz", f"{domain} \n")
    reviews = datasets.fetch_reviews(data_home=tmp_path)
    assert len(reviews.data) == 3 * 16
    assert reviews.data[:3] == reviews.data[3:6] == ["caf\xe9", "", "bad"]
    assert reviews.target[:3].tolist() == [1, 0, 0]
    assert reviews.domain[:4].tolist() == ["MR", "MR", "MR", "apparel"]
    assert reviews.split[:3].tolist() == ["train", "train", "test"]
    assert reviews.unlabeled["video"] == ["video"]


def test_amazon_reviews_share_one_sorted_vocabulary(tmp_path):
    for domain in ["books", "dvd", "electronics", "kitchen"]:
        folder = tmp_path / "amazon_blitzer/processed_acl" / domain
        write(folder / "positive.review.gz", f"good:2 {domain}:1 #label#:positive\n")
        write(folder / "negative.review", "a:b:3 bad:1 #label#:negative\n")
    reviews = datasets.fetch_amazon_reviews(data_home=tmp_path)
    names = ["a:b", "bad", "books", "dvd", "electronics", "good", "kitchen"]
    assert reviews.feature_names == names
    assert sparse.isspmatrix_csr(reviews.data)
    assert reviews.data.toarray()[:2].tolist() == [[3, 1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 2, 0]]
    assert reviews.target.tolist() == [0, 1] * 4
    assert reviews.domain[::2].tolist() == ["books", "dvd", "electronics", "kitchen"]


def test_reuters_crossdomain(tmp_path):
    (tmp_path / "reuters_crossdomain").mkdir()
    for part, n_rows in {"src": 2, "tar": 1}.items():
        arrays = {
            f"OrgsPlaces_{part}_data": sparse.csr_matrix(np.full((n_rows, 3), n_rows)),
            f"OrgsPlaces_{part}_label": np.ones((n_rows, 1), dtype=np.uint8) * n_rows,
        }
        savemat(tmp_path / f"reuters_crossdomain/OrgsPlaces_{part}.mat", arrays)
    terms = datasets.fetch_reuters_crossdomain(task="orgs-places", data_home=tmp_path)
    assert terms.data.toarray().tolist() == [[2] * 3, [2] * 3, [1] * 3]
    assert terms.target.tolist() == [2, 2, 1]
    assert terms.domain.tolist() == ["source", "source", "target"]
    with pytest.raises(ValueError, match="`task` must be one of 'orgs-people'.*got 'other'"):
        datasets.fetch_reuters_crossdomain(task="other", data_home=tmp_path)


FETCHERS = [name for name in datasets.__all__ if name.startswith("fetch_")]


@pytest.mark.parametrize("name", FETCHERS)
def test_a_missing_file_is_an_error_that_names_it(name, tmp_path):
    with pytest.raises(
        OSError, match="The data home must contain .*/.*not found in .*LANDBRIDGE_DATA"
    ):
        getattr(datasets, name)(data_home=tmp_path, download_if_missing=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FETCHERS)
def test_every_loader_cites_its_source(name):
    assert "References" in getattr(datasets, name).__doc__
