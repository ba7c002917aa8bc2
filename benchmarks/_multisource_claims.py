"""The claims of Geras and Sutton beside what `multisource_paper` measured."""

import numpy as np


def claims(outside: list[dict], variance: list[dict], learners: list[str]) -> list[list[str]]:
    """The paper's sentences with a verdict for each learner, from the figures measured here."""
    rows = []
    for claim, measured, judge in CLAIMS:
        cells = []
        about = outside if judge in ABOUT_NEW_DOMAINS else variance
        for learner in learners:
            mine = [line for line in about if line["learner"] == learner]
            verdict, values = judge(mine) if mine else ("–", [])
            cells.append(f"{verdict} ({', '.join(values)})" if values else verdict)
        rows.append([claim, measured, *cells])
    return rows


def verdict(gap: float, error: float) -> str:
    """Whether a gap is positive, if it is beyond two standard errors."""
    if abs(gap) <= 2 * error:
        return "unclear"
    return "yes" if gap > 0 else "no"


def bias(lines: list[dict], name: str, **where: int) -> tuple[float, float]:
    """Bias against new domains and its Monte Carlo error."""
    line = _line(lines, **where)
    return line[name] - line["new"], line[f"bias_{name}_se"]


def ratio(lines: list[dict], scheme: str, kind: str) -> tuple[float, float]:
    """Mean of an estimator over the true variance at the largest M, and its error."""
    last = _largest(lines, scheme)
    value, runs = last["estimators"][kind] / last["total"], last["runs"]
    of_truth = abs(value) * np.sqrt(2 / (runs - 1))
    return value, float(np.hypot(of_truth, last["spread"][kind] / np.sqrt(runs) / last["total"]))


def cvs_is_pessimistic(lines: list[dict]) -> tuple[str, list[str]]:
    few, few_error = bias(lines, "cvs", K=3, M=200)
    most = max(line["K"] for line in lines if line["M"] == 200 and line["K"] <= 10)
    many, many_error = bias(lines, "cvs", K=most, M=200)
    gap, error = few - abs(many), float(np.hypot(few_error, many_error))
    return verdict(gap, error), [_pm(few, few_error), _pm(many, many_error)]


def cvr_is_optimistic(lines: list[dict]) -> tuple[str, list[str]]:
    value, error = bias(lines, "cvr", M=1000)
    return verdict(-value, error), [_pm(value, error)]


def cvs_varies_more(lines: list[dict]) -> tuple[str, list[str]]:
    """Where rows are drawn with replacement for both: among the runs of the variance."""
    cvs, cvr = (_largest(lines, scheme) for scheme in ("source", "random"))
    deviations = [float(np.sqrt(v["total"])) for v in (cvs, cvr)]
    # The logarithm of a standard deviation from R runs has the error 1/√(2(R − 1)).
    error = float(np.sqrt(1 / (cvs["runs"] - 1)))
    return verdict(np.log(deviations[0] / deviations[1]), error), [f"{d:.4f}" for d in deviations]


def theta_gamma_is_too_large(lines: list[dict]) -> tuple[str, list[str]]:
    value, error = ratio(lines, "source", "theta_gamma")
    return verdict(value - 1, error), [_pm(value, error, 2)]


def theta_b_beats_theta_a(lines: list[dict]) -> tuple[str, list[str]]:
    return _nearer(ratio(lines, "source", "theta_b"), ratio(lines, "source", "theta_a"))


def theta_b_is_no_worse_with_few_rows(lines: list[dict]) -> tuple[str, list[str]]:
    """Not more optimistic than θ^γ at the smallest M."""
    smallest = [min((v for v in lines if v["scheme"] == "source"), key=lambda v: v["M"])]
    new, naive = (ratio(smallest, "source", kind) for kind in ("theta_b", "theta_gamma"))
    error = float(np.hypot(new[1], naive[1]))
    return verdict(new[0] - naive[0], error), [_pm(*naive, 2), _pm(*new, 2)]


def means_outweigh_covariances(lines: list[dict]) -> tuple[str, list[str]]:
    source = sorted((v for v in lines if v["scheme"] == "source"), key=lambda v: v["M"])
    shares = [v["mean"] ** 2 / max(map(abs, v["parts"].values())) for v in (source[0], source[-1])]
    return "yes" if min(shares) > 100 else "no", [f"{s:.0f}" for s in shares]


def omega_exceeds_gamma(lines: list[dict]) -> tuple[str, list[str]]:
    last = _largest(lines, "random")
    omega, gamma = last["omega"][2], last["gamma"][2]
    word = "yes" if gamma < omega < 10 * gamma else "no"
    return word if gamma > 0 else "unclear", [f"{omega:.1e}", f"{gamma:.1e}"]


def gamma_is_positive(lines: list[dict]) -> tuple[str, list[str]]:
    last = _largest(lines, "source")
    quartile, median = last["gamma"][1], last["gamma"][2]
    word = "yes" if quartile > 0 else "partly: in the median" if median > 0 else "no"
    return word, [f"{quartile:.1e}", f"{median:.1e}"]


def theta_5_beats_theta_3(lines: list[dict]) -> tuple[str, list[str]]:
    return _nearer(ratio(lines, "random", "theta_5"), ratio(lines, "random", "theta_3"))


def theta_5_is_unbiased(lines: list[dict]) -> tuple[str, list[str]]:
    """Within 20 % of θ at the smallest and at the largest M, if that can be told."""
    random = sorted((v for v in lines if v["scheme"] == "random"), key=lambda v: v["M"])
    found = [ratio([v], "random", "theta_5") for v in (random[0], random[-1])]
    values = [_pm(*one, 2) for one in found]
    if max(error for _, error in found) > 0.2:
        return "unclear", values
    return "yes" if all(abs(value - 1) <= 0.2 for value, _ in found) else "no", values


def omega_is_a_matter_of_sources(lines: list[dict]) -> tuple[str, list[str]]:
    shares = []
    for scheme in ("source", "random"):
        line = _largest(lines, scheme)
        shares.append(line["parts"]["omega"] / line["total"])
    return "yes" if shares[0] > 2 * abs(shares[1]) else "no", [f"{s:.2f}" for s in shares]


def gamma_settles(lines: list[dict]) -> tuple[str, list[str]]:
    source = sorted((v for v in lines if v["scheme"] == "source"), key=lambda v: v["M"])
    left = []
    for name in ("gamma", "omega"):
        first, last = ((v[name][3] - v[name][1]) for v in (source[0], source[-1]))
        left.append(last / first)
    values = [f"{s:.2f}" for s in left]
    if left[0] >= left[1]:
        return "no", values
    return "yes" if left[1] > 0.5 else "partly: both diminish, γ faster", values


def _nearer(one: tuple[float, float], other: tuple[float, float]) -> tuple[str, list[str]]:
    """Whether the first ratio is nearer to 1 than the second."""
    gap = abs(other[0] - 1) - abs(one[0] - 1)
    return verdict(gap, float(np.hypot(one[1], other[1]))), [_pm(*other, 2), _pm(*one, 2)]


def _pm(value: float, error: float, digits: int = 3) -> str:
    return f"{value:.{digits}f} ± {error:.{digits}f}"


ABOUT_NEW_DOMAINS = (cvs_is_pessimistic, cvr_is_optimistic)
CLAIMS = [
    (
        "CVS is pessimistic and comes closer with more sources",
        "bias of CVS at M = 200, K = 3 and 10 (of ten domains: 9)",
        cvs_is_pessimistic,
    ),
    ("CVR is optimistic", "bias of CVR at M = 1000, K = 10 (of ten domains: 9)", cvr_is_optimistic),
    (
        "CVS varies more than CVR, in the same order",
        "standard deviations with all domains, the largest M",
        cvs_varies_more,
    ),
    (
        "θ^γ grossly overestimates for large M",
        "mean of θ^γ / θ at the largest M",
        theta_gamma_is_too_large,
    ),
    (
        "θ_A is optimistic, θ_B less biased",
        "means of θ_A / θ and θ_B / θ at the largest M",
        theta_b_beats_theta_a,
    ),
    (
        "θ_B is not more optimistic than θ^γ for small M",
        "means of θ^γ / θ and θ_B / θ at M = 50",
        theta_b_is_no_worse_with_few_rows,
    ),
    (
        "error means are orders of magnitude above the parts of the variance",
        "squared mean error over the largest part of θ for CVS, at M = 50 and 1000",
        means_outweigh_covariances,
    ),
    (
        "γ_kl is almost always positive for large M",
        "lower quartile and median of γ_kl for CVS at the largest M",
        gamma_is_positive,
    ),
    (
        "ω is above γ for CVR, of similar size",
        "medians of ω_k and γ_kl at the largest M",
        omega_exceeds_gamma,
    ),
    (
        "θ5 is less biased than θ3 for CVR",
        "means of θ3 / θ and θ5 / θ at the largest M",
        theta_5_beats_theta_3,
    ),
    (
        "θ5 is almost unbiased even for small M",
        "mean of θ5 / θ at M = 50 and 1000",
        theta_5_is_unbiased,
    ),
    (
        "ω is strongly positive for CVS and not for CVR",
        "share of ω in θ at the largest M, CVS and CVR",
        omega_is_a_matter_of_sources,
    ),
    (
        "variation of γ_kl diminishes with M, that of ω_k hardly",
        "interquartile range at the largest M over that at the smallest, γ and ω",
        gamma_settles,
    ),
]


def _line(lines: list[dict], **fields: int) -> dict:
    return next(line for line in lines if fields.items() <= line.items())


def _largest(lines: list[dict], scheme: str) -> dict:
    return max((v for v in lines if v.get("scheme") == scheme), key=lambda v: v["M"])
