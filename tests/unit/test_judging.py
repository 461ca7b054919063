"""Verdicts, the lock in front of them, noise floors, pairs, and the operator's rules."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from omnitui.errors import UsageError
from omnitui.results.files import ResultError
from omnitui.results.judging.accept import Rule, evaluate, limit, read_rules
from omnitui.results.judging.lock import Difference, differences
from omnitui.results.judging.noise import Floor, floor_of, machine_of
from omnitui.results.judging.paired import by_sample, pair
from omnitui.results.judging.permutation import more_passes, rank_p, sign_p, smallest_p
from omnitui.results.judging.verdicts import Judged, judge_metrics
from omnitui.results.keys import FIXED, keys_of
from omnitui.results.passes import PassResult
from omnitui.results.provenance import definition_sha256
from omnitui.runbook.measured import Metric, Samples
from omnitui.runbook.part import Role
from tests.unit.builders import runbook

# -- exact tests -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "m", "p"), [(1, 1, 1.0), (2, 2, 1 / 3), (3, 3, 0.1), (4, 4, 2 / 70), (3, 4, 2 / 35)]
)
def test_the_smallest_p(n: int, m: int, p: float) -> None:
    assert smallest_p(n, m) == pytest.approx(p)
    low, high = [float(v) for v in range(n)], [float(v) for v in range(10, 10 + m)]
    assert rank_p(low, high) == pytest.approx(p)
    assert rank_p(high, low) == pytest.approx(p)


def test_how_many_more_passes_would_decide() -> None:
    assert [more_passes(n, n) for n in (1, 2, 3, 4)] == [3, 2, 1, 0]
    assert rank_p([], [1.0]) == 1.0


_small = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=4)


@given(_small, _small)
def test_the_rank_test_is_what_counting_all_splits_says(a: list[float], b: list[float]) -> None:
    pooled = a + b
    rank = [sum(v < x for v in pooled) + (sum(v == x for v in pooled) + 1) / 2 for x in pooled]
    expected = len(a) * (len(pooled) + 1) / 2
    seen = abs(sum(rank[: len(a)]) - expected)
    splits = [sum(rank[i] for i in chosen) for chosen in combinations(range(len(pooled)), len(a))]
    far = sum(abs(one - expected) >= seen - 1e-9 for one in splits)
    assert rank_p(a, b) == pytest.approx(far / len(splits))
    assert rank_p(a, b) == pytest.approx(rank_p(b, a))


def test_many_values_are_judged_quickly_and_alike() -> None:
    a, b = [float(v) for v in range(40)], [v + 5.5 for v in range(40)]
    assert rank_p(a, b) == pytest.approx(rank_p(a[:29], [v + 4 for v in a[:29]]), abs=0.2)
    assert rank_p([1.0] * 40, [1.0] * 40) == 1.0


def test_the_sign_test() -> None:
    assert (sign_p(0, 0), sign_p(5, 5)) == (1.0, 1.0)
    assert sign_p(10, 0) == pytest.approx(2 / 1024)
    assert 0 < sign_p(1088, 900) < 0.001


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_sign_test_is_the_sum_of_its_tail(lower: int, higher: int) -> None:
    total, most = lower + higher, max(lower, higher)
    tail = sum(math.comb(total, k) for k in range(most, total + 1)) / 2**total
    assert sign_p(lower, higher) == pytest.approx(min(1.0, 2 * tail))


def test_the_sign_test_of_a_large_corpus_takes_no_minutes() -> None:
    # Each binomial anew, these would take a quarter of an hour.
    assert 0 < sign_p(25_000, 25_500) < 0.05


# -- verdicts --------------------------------------------------------------------------------------------------

RATE = Metric(id="rate", file="", path="", unit="req/s", direction="higher", primary=True, guards=("tokens",))
WER = Metric(id="wer", file="", path="", direction="lower", primary=True)
TOKENS = Metric(id="tokens", file="", path="")
SIDE = Metric(id="side", file="", path="", direction="lower")
FLOORS = {"rate": Floor(1.0, 100.0), "wer": Floor(0.001, 0.02)}


def passes(name: str, values: Sequence[float], **more: Any) -> list[PassResult]:
    return [PassResult("s", str(i), True, True, {name: value}, **more) for i, value in enumerate(values)]


def one(
    a: Sequence[float], b: Sequence[float], metric: Metric = RATE, locked: str = "", **floors: Floor
) -> Judged:
    known = FLOORS | floors
    (found,) = judge_metrics(passes(metric.id, a), passes(metric.id, b), (metric,), known, locked)
    return found


@pytest.mark.parametrize(
    ("a", "b", "metric", "verdict"),
    [
        ([100, 101, 102], [110, 111, 112], RATE, "better"),
        ([110, 111, 112], [100, 101, 102], RATE, "worse"),
        ([0.02, 0.021, 0.022], [0.03, 0.031, 0.032], WER, "worse"),
        ([0.03, 0.031, 0.032], [0.02, 0.021, 0.022], WER, "better"),
        ([100, 101, 102], [101.5, 111, 112], RATE, "no difference shown"),
        ([100, 101, 102], [100, 101, 102], RATE, "no difference shown"),
        ([100, 100, 100], [100.5, 100.6, 100.7], RATE, "no difference shown"),
        ([100, 101], [110, 111], RATE, "no difference shown"),
        ([100], [200], RATE, "no difference shown"),
        ([100, 101, 102], [110, 111, 112], SIDE, "described"),
        ([100, 101, 102], [110, 111, 112], TOKENS, "described"),
        ([], [110, 111, 112], RATE, "cannot be compared"),
    ],
)
def test_the_verdict(a: list[float], b: list[float], metric: Metric, verdict: str) -> None:
    assert one(a, b, metric).verdict == verdict


def test_a_verdict_says_p_and_what_would_decide() -> None:
    found = one([100, 101, 102], [110, 111, 112])
    assert found.p == pytest.approx(0.1)
    assert found.more == 1
    assert found.floor == pytest.approx(1.06)
    assert found.difference == 10
    assert found.relative == pytest.approx(10 / 101)
    assert "3 against 3" in found.reason
    assert one([100, 101, 102, 103], [110, 111, 112, 113]).more is None
    assert "cannot have a p below 0.33" in one([100, 101], [110, 111]).reason


@pytest.mark.parametrize(("size", "verdict"), [(2, "better"), (3, "better"), (4, "no difference shown")])
def test_a_noise_floor_says_nothing_of_smaller_groups(size: int, verdict: str) -> None:
    found = one([100, 101, 102], [110, 111, 112, 113], rate=Floor(1.0, 100.0, size))
    assert found.verdict == verdict
    assert ("4 against 4: 3 against 4 is noisier" in found.reason) == (size == 4)


def test_one_against_nineteen_has_no_verdict() -> None:
    found = one([100], [110 + n for n in range(19)])
    assert found.p == pytest.approx(0.1)
    assert found.verdict == "no difference shown"


def test_without_a_noise_floor_ranges_that_lie_apart_are_no_proof() -> None:
    (found,) = judge_metrics(passes("rate", [1, 2, 3]), passes("rate", [7, 8, 9]), (RATE,), None)
    assert found.verdict == "no difference shown"
    assert "no noise floor" in found.reason


def test_guards_stand_beside_what_they_may_explain() -> None:
    def with_tokens(rate: float, tokens: float, label: str) -> PassResult:
        return PassResult("s", label, True, True, {"rate": rate, "tokens": tokens})

    a = [with_tokens(100 + i, 1000 + i, str(i)) for i in range(3)]
    b = [with_tokens(110 + i, 900 + i, str(i)) for i in range(3)]
    rate, _ = judge_metrics(a, b, (RATE, TOKENS), FLOORS)
    (guard,) = rate.guards
    assert (guard.metric, guard.moved) == ("tokens", True)
    assert guard.relative == pytest.approx(-0.1, rel=0.01)


# -- the lock --------------------------------------------------------------------------------------------------

ROLES: dict[str, Role] = {
    **{"runbook": "equal", "rehearsal": "equal", "gpu.names": "equal"},
    **{"variable.COMMIT": "subject", "host.boot": "told"},
}
H200: dict[str, str | None] = {
    **{"runbook": "asr", "rehearsal": "no", "gpu.names": "H200"},
    **{"variable.COMMIT": "one", "host.boot": "b"},
}


def locked(
    a: Sequence[Mapping[str, str | None]], b: Sequence[Mapping[str, str | None]], *despite: str
) -> dict[str, str]:
    return {one.key: one.kind for one in differences(a, b, ROLES, despite)}


def test_what_is_the_same_is_no_difference() -> None:
    assert locked([H200, H200], [H200]) == {}


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"gpu.names": "H100"}, {"gpu.names": "blocks"}),
        ({"gpu.names": None}, {"gpu.names": "blocks"}),
        ({"variable.COMMIT": "two"}, {"variable.COMMIT": "subject"}),
        ({"host.boot": "c"}, {"host.boot": "told"}),
        ({"variable.SAMPLES": "40"}, {"variable.SAMPLES": "blocks"}),
        ({"rehearsal": "yes"}, {"rehearsal": "blocks"}),
    ],
)
def test_what_differs_is_told_and_blocks_or_not(change: dict[str, str | None], kind: dict[str, str]) -> None:
    assert locked([H200], [{**H200, **change}]) == kind


def test_two_that_are_not_known_are_not_equal() -> None:
    unknown = {**H200, "gpu.names": None}
    assert locked([unknown], [unknown]) == {"gpu.names": "blocks"}
    assert locked([unknown], [unknown], "unknown") == {"gpu.names": "despite"}
    nothing = {key: value for key, value in H200.items() if key != "gpu.names"}
    assert locked([nothing], [nothing]) == {"gpu.names": "blocks"}


def test_unlike_passes_within_a_side_block_too() -> None:
    other = {**H200, "variable.COMMIT": "two", "gpu.names": "H100"}
    assert locked([H200, other], [H200]) == {"gpu.names": "blocks", "variable.COMMIT": "blocks"}


def test_the_operator_may_insist_on_a_key_but_never_on_stand_ins() -> None:
    other = {**H200, "gpu.names": "H100"}
    assert locked([H200], [other], "gpu.names") == {"gpu.names": "despite"}
    for key in ("rehearsal", "runbook"):
        with pytest.raises(UsageError, match="never"):
            locked([H200], [other], key)
    with pytest.raises(UsageError, match="no such key"):
        locked([H200], [other], "gpu.name")


_keys = st.dictionaries(
    st.sampled_from((*ROLES, "variable.X")), st.sampled_from(("1", "2", None)), min_size=3
).map(lambda found: {**H200, **found})


@given(st.lists(_keys, min_size=1, max_size=3), st.lists(_keys, min_size=1, max_size=3), st.randoms())
@settings(max_examples=60)
def test_a_difference_in_provenance_is_never_silent(
    a: list[dict[str, str | None]], b: list[dict[str, str | None]], random: Any
) -> None:
    found = {one.key: one for one in differences(a, b, ROLES)}
    for key in {key for side in (*a, *b) for key in side} | ROLES.keys():
        values = [side.get(key) for side in (*a, *b)]
        if len(set(values)) > 1 or (None in values and ROLES.get(key) != "told"):
            assert key in found
            allowed = {"told": ("told",), "subject": ("subject", "blocks")}.get(
                ROLES.get(key, "equal"), ("blocks",)
            )
            assert found[key].kind in allowed
    shuffled = random.sample(a, len(a)), random.sample(b, len(b))
    assert differences(*shuffled, ROLES) == tuple(found.values())


def test_what_blocks_stands_first() -> None:
    other = {**H200, "host.boot": "c", "variable.COMMIT": "two", "gpu.names": "H100"}
    found: tuple[Difference, ...] = differences([H200], [other], ROLES)
    assert [one.kind for one in found] == ["blocks", "subject", "told"]


# -- no made-up figures, no unsound passes ---------------------------------------------------------------------

_values = st.one_of(st.floats(1, 200), st.just(0.0))
_results = st.builds(
    PassResult,
    series=st.just("s"),
    label=st.uuids().map(str),
    scored=st.booleans(),
    complete=st.booleans(),
    metrics=st.dictionaries(st.sampled_from(("rate", "wer", "tokens")), _values),
    reasons=st.sampled_from(((), ("short",))),
    marks=st.sampled_from(((), ("edited",))),
)


@given(st.lists(_results, max_size=5), st.lists(_results, max_size=5), st.randoms())
@settings(max_examples=80)
def test_only_whole_scored_unmarked_passes_are_judged_in_any_order(
    a: list[PassResult], b: list[PassResult], random: Any
) -> None:
    metrics = (RATE, WER, TOKENS)
    found = judge_metrics(a, b, metrics, FLOORS)
    for judged in found:
        for row, side in ((judged.a, a), (judged.b, b)):
            sound = [one for one in side if one.scored and one.complete and not one.reasons and not one.marks]
            assert sorted(row.values) == sorted(
                one.metrics[judged.metric] for one in sound if judged.metric in one.metrics
            )
        if not judged.a.values or not judged.b.values:
            assert judged.verdict == "cannot be compared"
            assert judged.difference is None
    again = judge_metrics(random.sample(a, len(a)), random.sample(b, len(b)), metrics, FLOORS)
    assert [(one.verdict, one.p, one.difference, one.reason) for one in found] == [
        (one.verdict, one.p, one.difference, one.reason) for one in again
    ]


# -- noise floors ----------------------------------------------------------------------------------------------


def test_the_floor_is_the_largest_difference_of_means_by_chance() -> None:
    values = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0]
    found = floor_of(values, 3)
    assert found == Floor(3.0, 12.5, 3)
    means = [(sum(c) / 3, (75 - sum(c)) / 3) for c in combinations(values, 3)]
    assert found.absolute == max(abs(x - y) for x, y in means)
    assert (found.at(25.0), found.at(5.0)) == (6.0, 3.0)
    assert Floor(0.5, 0.0).at(9.0) == 0.5
    assert floor_of([1.0, 2.0, 3.0], 1) is None


@given(st.lists(st.floats(0.001, 1e6), min_size=6, max_size=6))
def test_the_passes_of_a_noise_floor_show_no_difference_by_it(values: list[float]) -> None:
    floor = floor_of(values, 3)
    assert floor is not None
    (found,) = judge_metrics(passes("rate", values[:3]), passes("rate", values[3:]), (RATE,), {"rate": floor})
    assert found.verdict == "no difference shown"


def test_a_machine_must_be_wholly_known() -> None:
    keys: dict[str, str | None] = {
        **{"runbook": "asr", "definition": "d", "host.name": "h", "host.cpu": "c", "host.cpus": "0"},
        **{"gpu.names": "H200", "gpu.uuids": "GPU-1", "more": "x"},
    }
    found = machine_of(keys, {})
    assert found is not None
    assert "more" not in found
    assert machine_of({**keys, "gpu.uuids": None}, {}) is None


def test_a_floor_is_of_the_settings_that_must_be_equal() -> None:
    keys: dict[str, str | None] = {
        **{"runbook": "asr", "definition": "d", "host.name": "h", "host.cpu": "c", "host.cpus": "0"},
        **{"gpu.names": "H200", "gpu.uuids": "GPU-1", "variable.SAMPLES": "1000"},
        **{"variable.COMMIT": "a", "variable.PORT": "1"},
    }
    roles: dict[str, Role] = {
        **{"variable.SAMPLES": "equal", "variable.COMMIT": "subject", "variable.PORT": "told"},
        "host.boot": "equal",
    }
    whole = machine_of(keys, roles)
    assert whole is not None
    assert machine_of({**keys, "variable.COMMIT": "b", "variable.PORT": "2"}, roles) == whole
    assert machine_of({**keys, "variable.SAMPLES": "10"}, roles) != whole
    assert machine_of({**keys, "variable.SAMPLES": None}, roles) is None


# -- sample by sample ------------------------------------------------------------------------------------------

LATENCY = Samples(id="latency", file="r.json", rows="rows", value="s", unit="s", direction="lower")


def test_samples_are_paired_by_their_ids() -> None:
    a = [{"x": 1.0, "y": 2.0, "z": 3.0}, {"x": 3.0, "y": 2.0, "z": 3.0}]
    found = pair(LATENCY, a, [{"z": 3.0, "y": 1.0, "x": 1.0, "only": 9.0}])
    assert (found.pairs, found.lower, found.equal, found.higher) == (3, 2, 1, 0)
    assert (found.only_a, found.only_b, found.median) == (0, 1, -1.0)
    assert found.largest[0][1:] == (2.0, 1.0)
    nothing = pair(LATENCY, [], [])
    assert (nothing.pairs, nothing.median, nothing.p) == (0, None, None)


def test_only_finite_numbers_of_samples_count(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text(
        '{"rows": [{"id": 1, "s": 2}, {"id": 2, "s": null}, {"id": 3, "s": NaN}, {"id": 4, "s": true}, {"s": 1}]}'
    )
    assert by_sample(LATENCY, tmp_path, {}) == {"1": 2.0}
    file.write_text('{"rows": [{"id": 1, "s": 2}, {"id": 1, "s": 3}]}')
    with pytest.raises(ResultError, match="twice"):
        by_sample(LATENCY, tmp_path, {})


# -- the operator's rules --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "base", "value"),
    [
        *(("1.02x", 100.0, 102.0), ("base + 0.0002", 0.02, 0.0202), ("base - 1", 5.0, 4.0)),
        *(("base+.5", 1.0, 1.5), ("12.5", 99.0, 12.5), ("1e-3", 99.0, 0.001)),
    ],
)
def test_limits(text: str, base: float, value: float) -> None:
    assert limit(text, base) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "x", "1.02 y", "base", "base * 2", "nan", "inf", "1e999", "1e999x"])
def test_other_limits_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        limit(text, 1.0)


FASTER = Rule(metric="rate", at_least="1.02x")


def ruling(rule: Rule, judged: Judged) -> str:
    (outcome,) = evaluate([rule], [judged])
    assert outcome.reason
    return outcome.ruling


def test_rules_look_at_the_means() -> None:
    assert ruling(FASTER, one([100, 100], [102, 102])) == "accepted"
    assert ruling(FASTER, one([100, 100], [101.9, 101.9])) == "refused"
    worse = Rule(metric="wer", at_most="base + 0.0002")
    assert ruling(worse, one([0.02], [0.0202], WER)) == "accepted"
    assert ruling(worse, one([0.02], [0.0203], WER)) == "refused"


def test_a_share_of_nothing_or_less_cannot_be_judged() -> None:
    assert ruling(FASTER, one([-10, -10], [-10.1, -10.1])) == "cannot be judged"
    assert ruling(FASTER, one([0, 0], [0, 0])) == "cannot be judged"
    assert ruling(Rule(metric="rate", at_least="base + 0"), one([-10, -10], [-9, -9])) == "accepted"


@given(st.sampled_from((math.nan, None)))
def test_what_has_no_number_cannot_be_judged(value: float | None) -> None:
    judged = one([100, 101], [200, 201])
    row = judged.b
    broken = type(row)(row.metric, row.unit, row.direction, value, None, row.values, row.passes)
    fields = {name: getattr(judged, name) for name in judged.__struct_fields__} | {"b": broken}
    for rule in (FASTER, Rule(metric="rate", at_most="1000x"), Rule(metric="gone", at_least="0")):
        assert ruling(rule, Judged(**fields)) == "cannot be judged"
    assert ruling(FASTER, one([100, 101], [200, 201], locked="gpu.names differs")) == "cannot be judged"


def test_rules_are_read_and_wrong_ones_told(tmp_path: Path) -> None:
    file = tmp_path / "accept.toml"
    file.write_text('[[accept]]\nmetric = "rate"\nat_least = "1.02x"\n')
    assert read_rules(file, ["rate"]) == (FASTER,)
    for text, told in (
        ('[[accept]]\nmetric = "rat"\nat_least = "1x"\n', "did you mean rate"),
        ('[[accept]]\nmetric = "rate"\n', "at_least or at_most"),
        ('[[accept]]\nmetric = "rate"\nat_least = "quick"\n', r"\.toml: rate: .* not one of"),
        ('[[accept]]\nmetric = "rate"\nmore = "1x"\n', "unknown field `more`"),
        ('[[accept]]\nmetric = "rate"\nmore = "1x"\n', "a rule has metric, at_least, at_most, why"),
        ("[[accept", "accept.toml"),
        ("accept = []", "has no rule"),
    ):
        file.write_text(text)
        with pytest.raises(UsageError, match=told):
            read_rules(file, ["rate"])


# -- keys ------------------------------------------------------------------------------------------------------


def test_keys_bear_whatever_was_stored_and_leave_the_monitor_out() -> None:
    known: dict[str, Any] = {
        **{"runbook": "asr", "definition_sha256": "d", "origin": "run", "edited": {"client": "echo"}},
        "variables": {"SAMPLES": "40"},
        "told": {"commit": "5ed8a8d"},
        "host": {"name": "n", "boot": "b", "cpus": [0, 1]},
        "gpus": {"count": 1, "names": ["H200"], "uuids": ["GPU-1"]},
        "containers": [{"image": "i", "digests": [{"Id": "x"}, "y"], "id": "1", "started": "now"}],
    }
    found = keys_of({**known, "monitor": {"samples": 5}})
    assert found == keys_of({**known, "monitor": {"samples": 6, "throttle_reasons": ["heat"]}})
    kept = [f"serve: 4 threads of 2 processes keep to CPUs {cpus}" for cpus in ("2-9 of 2-15", "2-15")]
    fewer, whole = (keys_of({**known, "monitor": {"pinned": [one]}}) for one in kept)
    assert (fewer["cpus.kept"], whole["cpus.kept"]) == ("serve = 2-9", "serve = 2-15")
    assert [(one.key, one.kind) for one in differences([fewer], [whole], FIXED) if one.why == "differs"] == [
        ("cpus.kept", "told")
    ]
    assert found["variable.SAMPLES"] == "40"
    assert found["edited"] == "client = echo"
    assert (found["gpu.names"], found["gpu.driver"]) == ("H200", "that of boot b")
    assert found == keys_of({**known, "containers": [{**known["containers"][0], "id": "2", "started": "later"}]})
    assert found != keys_of({**known, "edited": {}})
    assert keys_of({**known, "containers": [*known["containers"], {"name": "gone", "error": "no engine"}]}) == {
        **found,
        "containers": None,
    }
    assert keys_of({})["gpu.names"] is None
    assert keys_of({"gpus": {"count": 0}})["gpu.uuids"] == "none"


def test_what_is_only_described_otherwise_is_the_same_definition(tmp_path: Path) -> None:
    (tmp_path / "client.py").write_text("measure()")
    base = runbook(metrics=(RATE,))
    sha = definition_sha256(base, tmp_path)
    told = runbook(metrics=(structs.replace(RATE, help="More.", primary=False),), title="Other")
    assert definition_sha256(told, tmp_path) == sha
    assert definition_sha256(runbook(metrics=(structs.replace(RATE, path="b"),)), tmp_path) != sha
    (tmp_path / "accept.toml").write_text("")
    assert definition_sha256(base, tmp_path) == sha
    (tmp_path / "client.py").write_text("measure(2)")
    assert definition_sha256(base, tmp_path) != sha
