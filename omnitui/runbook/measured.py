"""What a runbook says of results: what a pass must produce, the numbers in it, and what is to be known of them."""

from typing import Literal

from omnitui.runbook.part import Part, Role, When


class Check(Part, frozen=True, kw_only=True):
    """A field of a result file that must have a value."""

    file: str = ""
    """Another file of the same workload, below the output folder; its own when empty."""
    path: str
    equals: str


class Workload(Part, kw_only=True, frozen=True):
    """What a pass must have produced. `file` is below the pass's output folder; `rows` and `count` are JMESPaths.

    A file that lists its samples has `rows`; one that only tells their number has `count`.
    """

    id: str
    title: str
    when: When = {}
    file: str
    rows: str = ""
    key: str = "id"
    count: str = ""
    expect: str
    checks: tuple[Check, ...] = ()
    failed: str = ""
    """A JMESPath of the ids of the samples that failed, or of their number."""
    skipped: str = ""
    """The same of those without a score."""
    audio: str = ""
    """A glob below the output folder: one sound, non-empty WAV for each row."""


class Metric(Part, kw_only=True, frozen=True):
    """One number of a pass: a JMESPath into a result file."""

    id: str
    when: When = {}
    file: str
    path: str
    unit: str = ""
    direction: Literal["higher", "lower", "none"] = "none"
    primary: bool = False
    """One of the few that a verdict is given on; the others describe."""
    guards: tuple[str, ...] = ()
    """Metrics to read beside it: what else may have moved it."""
    help: str = ""


class Samples(Part, kw_only=True, frozen=True):
    """One number of each sample, for comparisons sample by sample. `rows` and `value` are JMESPaths."""

    id: str
    when: When = {}
    file: str
    rows: str
    key: str = "id"
    value: str
    unit: str = ""
    direction: Literal["higher", "lower", "none"] = "none"


class Known(Part, kw_only=True, frozen=True):
    """Something that a pass's output, or a value, tells of how it was measured."""

    id: str
    when: When = {}
    file: str = ""
    """A file below the output folder; its whole text, or with `path` the JMESPath into it."""
    path: str = ""
    value: str = ""
    """Instead of a file: a string that may name variables."""
    from_step: str = ""
    """Instead of a file: the name of what a step has handed on."""
    compare: Role = "equal"


class Reference(Part, frozen=True, kw_only=True):
    """A published result, and the setup that it came from. Never mixed with what a run measured."""

    workload: str
    source: str
    setup: str
    results: str
