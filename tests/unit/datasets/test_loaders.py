"""Each loader on a small file of the same form, with every value known."""

import gzip
import io
import json
import tarfile

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from landbridge import datasets


def write(path, text, *, encoding="utf-8"):
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def write_json_lines(path, records):
    write(path, "".join(json.dumps(record) + "\n" for record in records))


def write_arrays(path, **arrays):
    path.parent.mkdir(parents=True)
    np.savez(path, **arrays)


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


def test_wifi_turns_features_into_columns(tmp_path):
    write_arrays(
        tmp_path / "wifi_icdm2007/wifi_icdm2007_tr_99.npz",
        src_X=np.array([[-50, 0, -60], [0, -70, -80]]),
        src_labels=np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        tar_train_X=np.array([[-1], [-2]]),
        tar_train_labels=np.array([[7.0, 8.0]]),
        tar_test_X=np.array([[-3, -4], [-5, -6]]),
        tar_test_labels=np.array([[9.0, 9.0], [8.0, 8.0]]),
    )
    wifi = datasets.fetch_wifi(data_home=tmp_path)
    assert wifi.X.tolist() == [[-50, 0], [0, -70], [-60, -80]]
    assert wifi.X_target.tolist() == [[-1, -2]]
    assert wifi.y_test.tolist() == [[9, 9], [8, 8]]
    assert wifi.data.shape == (6, 2)
    assert wifi.domain.tolist() == ["source"] * 3 + ["target"] * 3
    assert wifi.split.tolist() == ["train"] * 4 + ["test"] * 2


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


@pytest.mark.parametrize("case", [str.lower, str.upper])
def test_mnist_and_cifar10(tmp_path, case):
    arrays = {
        f"{case('x')}_train": np.arange(2 * 4, dtype=np.uint8).reshape(2, 2, 2),
        "y_train": np.array([3, 4], dtype=np.uint8),
        f"{case('x')}_test": np.zeros((1, 2, 2), dtype=np.uint8),
        "y_test": np.array([5], dtype=np.uint8),
    }
    write_arrays(tmp_path / "mnist/mnist.npz", **arrays)
    write_arrays(tmp_path / "cifar10/cifar10_subset.npz", **arrays)
    for images in (
        datasets.fetch_mnist(data_home=tmp_path),
        datasets.fetch_cifar10(data_home=tmp_path),
    ):
        assert images.data.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [0, 0, 0, 0]]
        assert images.data.dtype == np.uint8
        assert images.target.tolist() == [3, 4, 5]
        assert images.split.tolist() == ["train", "train", "test"]
    assert images.target_names[3] == "cat"


def test_office_caltech(tmp_path):
    domains = ["caltech10", "amazon", "webcam", "dslr"]
    arrays = {f"{name}_X": np.full((2, 3), k) for k, name in enumerate(domains)}
    labels = {f"{name}_y": np.array([1, 2]) for name in domains}
    write_arrays(tmp_path / "office_caltech10_surf/office_caltech10_surf.npz", **arrays, **labels)
    objects = datasets.fetch_office_caltech(data_home=tmp_path)
    assert objects.data[:, 0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert objects.target.tolist() == [1, 2] * 4
    assert objects.domain[::2].tolist() == ["caltech", "amazon", "webcam", "dslr"]


POSTS = [
    {"split": "train", "category": "rec.autos", "id": "7", "text": "a caf\xe9"},
    {"split": "train", "category": "sci.space", "id": "10", "text": "orbit"},
    {"split": "test", "category": "rec.autos", "id": "8", "text": "wheel\r"},
]


def newsgroup_archive():
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for post in reversed(POSTS):
            content = post["text"].encode("latin-1")
            name = f"20news-bydate-{post['split']}/{post['category']}/{post['id']}"
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        archive.addfile(_folder("20news-bydate-train"))
    return buffer.getvalue()


def _folder(name):
    info = tarfile.TarInfo(name)
    info.type = tarfile.DIRTYPE
    return info


@pytest.mark.parametrize("form", ["lines", "archive"])
def test_20newsgroups_reads_the_original_archive_and_json_lines_alike(tmp_path, form):
    folder = tmp_path / "20newsgroups"
    if form == "lines":
        write_json_lines(folder / "20news-bydate.jsonl.gz", POSTS)
    else:
        folder.mkdir()
        (folder / "20news-bydate.tar.gz").write_bytes(newsgroup_archive())
    news = datasets.fetch_20newsgroups(data_home=tmp_path, download_if_missing=False)
    assert news.data == ["a caf\xe9", "orbit", "wheel\r"]
    assert news.target.tolist() == ["rec.autos", "sci.space", "rec.autos"]
    assert news.split.tolist() == ["train", "train", "test"]
    assert news.target_names == ["rec.autos", "sci.space"]


def test_reviews_keep_empty_texts_and_read_both_encodings(tmp_path):
    from landbridge.datasets._texts import _REVIEW_DOMAINS

    for domain in _REVIEW_DOMAINS:
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


def test_reuters(tmp_path):
    document = {"lewissplit": "TRAIN", "title": "T", "body": "B", "topics": ["cocoa"]}
    document |= {"places": ["usa"], "people": [], "orgs": ["ec"], "exchanges": []}
    write_json_lines(tmp_path / "reuters21578/reuters21578.jsonl.gz", [document])
    news = datasets.fetch_reuters(data_home=tmp_path)
    assert news.data == ["T\nB"]
    assert news.target == news.topics == [["cocoa"]]
    assert (news.places, news.people, news.orgs, news.exchanges) == (
        [["usa"]],
        [[]],
        [["ec"]],
        [[]],
    )
    assert news.split.tolist() == ["TRAIN"]
    assert news.documents == [document]


@pytest.mark.parametrize(("merge", "second"), [(False, "medium"), (True, "cold")])
def test_syskill_webert_shows_what_a_reader_sees(tmp_path, merge, second):
    html = "<TITLE>Goats</TITLE><script>hidden()</script><p>milk &amp; <b>cheese</b></p></script>"
    pages = [
        {"subject": "Goats", "rating": rating, "url": "u", "html": html}
        for rating in ("hot", "medium", "cold")
    ]
    write_json_lines(tmp_path / "syskill_webert/syskill_webert_rated.jsonl.gz", pages)
    web = datasets.fetch_syskill_webert(data_home=tmp_path, merge_medium=merge)
    assert web.data == ["Goats milk & cheese"] * 3
    assert web.html[0] == html
    assert web.target.tolist() == ["hot", second, "cold"]
    assert web.domain.tolist() == ["Goats"] * 3


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
