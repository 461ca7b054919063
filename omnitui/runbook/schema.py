"""The types of a runbook. Every field that a runbook may write stands here; unknown ones are refused.

Strings may name variables as `${NAME}`, except in scripts (`run`, `prelude`), where bash expands them: a script
runs byte for byte as it was written.
"""

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

ENTRY = re.compile(r"[A-Za-z0-9-][A-Za-z0-9.-]*/[A-Za-z0-9-][A-Za-z0-9.-]*")
"""One pass of a schedule, as `series/pass`."""


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every table of a runbook."""


When: TypeAlias = Mapping[str, tuple[str, ...]]
"""Holds when each named variable (a list separated by commas) has one of the given values. Empty holds always."""


Role: TypeAlias = Literal["equal", "subject", "told"]
"""What a value is to a comparison: it must be equal, it is what is compared, or it is told when it differs."""


class Variable(Part, kw_only=True, frozen=True):
    """A value that the operator sets. Without a default it must be given."""

    help: str
    default: str | None = None
    choices: tuple[str, ...] = ()
    many: bool = False
    """A list separated by commas, each item one of `choices`."""
    when: When = {}
    """Asked only then; else it has its default, or is empty."""
    pattern: str = ""
    """A regular expression that the whole value must match."""
    secret: bool = False
    """Lives in the environment only; never stored, never shown."""
    handed: bool = False
    """Has its value from a step, through `$OMNITUI_ENV`; the operator is not asked for it."""
    compare: Role = "equal"
    """What it is to a comparison."""


class PlaceSpec(Part, frozen=True, kw_only=True):
    """Where commands run."""

    kind: str = "local"
    """`local`, or `docker`: `docker exec` into a running container. May name a variable."""
    container: str = ""
    jobs: str = ""
    """A folder of the container that is mounted from the host: jobs write their logs and exit status there."""


class Environment(Part, frozen=True, kw_only=True):
    """What a shell is given before a step's own lines."""

    place: str = "host"
    cwd: str = ""
    prelude: str = ""
    exports: Mapping[str, str] = {}
    unset: tuple[str, ...] = ()
    cpus: str = ""
    """A CPU list such as `2-15,18`; read back from every thread once the job runs."""
    strict: bool = True
    """`set -eo pipefail` before the first line."""


class Deviation(Part, frozen=True, kw_only=True):
    """Where a step does something safer than the page's own line."""

    page: str
    does: str
    why: str


class Remedy(Part, frozen=True, kw_only=True):
    """What the page says to do when a gate is red."""

    say: str
    when: When = {}
    run: str = ""
    """A command that the operator may have run, in the step's place and environment."""
    place: Literal["", "host"] = ""
    """`host`: the command runs there, with nothing added; what hangs may be the step's own container."""


class Output(Part, tag="output", tag_field="gate", kw_only=True, frozen=True):
    """The output has `word` as a line of its own, or matches `pattern`, and the exit status fits."""

    name: str = ""
    """What a gate that waits for a pattern is called."""
    word: str = ""
    pattern: str = ""
    equals: tuple[str, ...] = ()
    """What the groups of `pattern` must have captured, in order."""
    refuse: tuple[str, ...] = ()
    """Words that make the gate red at once."""
    exit: tuple[int, ...] = (0,)
    remedies: tuple[Remedy, ...] = ()


class PortFree(Part, tag="port_free", tag_field="gate", kw_only=True, frozen=True):
    """Nobody listens on the port, in IPv4 or IPv6."""

    port: str
    word: str = "PORT_FREE"
    timeout_s: float = 30.0
    remedies: tuple[Remedy, ...] = ()


class GpuFree(Part, tag="gpu_free", tag_field="gate", kw_only=True, frozen=True):
    """Memory used on each GPU of the run is below the limit and no process of ours is left."""

    gpus: str = "${GPUS}"
    """Indices or UUIDs, separated by commas; empty when the run uses none."""
    limit_mib: int = 1024
    needs_gpu: bool = False
    """Red, not moot, where the machine has no NVIDIA GPU."""
    word: str = "GPU_FREE"
    timeout_s: float = 600.0
    remedies: tuple[Remedy, ...] = ()


class Coverage(Part, tag="coverage", tag_field="gate", kw_only=True, frozen=True):
    """Every workload of the pass is complete, as read from its files."""

    word: str = "RUN_COMPLETE"
    remedies: tuple[Remedy, ...] = ()


class ContainerUp(Part, tag="container", tag_field="gate", kw_only=True, frozen=True):
    """The container of a docker place runs, and is the one that the page describes."""

    place: str
    image: str = ""
    """`name@sha256:...`; empty when any will do."""
    gpus: str = ""
    """Indices or UUIDs, separated by commas, as the container was given them."""
    cpuset: str = ""
    mounts: Mapping[str, str] = {}
    """Folder in the container, and the host's folder that it must show."""
    word: str = "CONTAINER_UP"
    remedies: tuple[Remedy, ...] = ()


class AssetsCached(Part, tag="assets", tag_field="gate", kw_only=True, frozen=True):
    """The models and data sets are in the page's cache, whole, at their revisions."""

    assets: tuple[str, ...] = ()
    """Their ids; empty means all."""
    word: str = "ASSETS_CACHED"
    remedies: tuple[Remedy, ...] = ()


Gate: TypeAlias = Output | PortFree | GpuFree | Coverage | ContainerUp | AssetsCached


class Satisfied(Part, frozen=True, kw_only=True):
    """A look that tells whether a step is already true."""

    run: str
    word: str


class StepBase(Part, kw_only=True, frozen=True):
    """What every step has."""

    id: str
    title: str
    note: str = ""
    when: When = {}
    env: str = ""
    gates: tuple[Gate, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    deviations: tuple[Deviation, ...] = ()
    redo: Literal["step", "pass"] | None = None
    """Where to begin again when the step did not end green. Default: the pass in a pass, else the step."""
    go_on: tuple[str, ...] = ()
    """Gates by name: when none but these are red, the steps after it run all the same, and the run ends red."""
    skip_passes: tuple[str, ...] = ()
    destructive: bool = False
    """Deletes or rebuilds something: the operator is asked first."""
    timeout_s: float = 0.0
    """How long the command may take; 0 is for ever."""


class Progress(Part, frozen=True, kw_only=True):
    """How far a command is, told by the files that it leaves below the pass's output folder."""

    files: str
    """A glob; only files that are younger than the attempt count."""
    expect: str = ""
    """How many there will be; empty when nobody knows."""


class Command(StepBase, tag="command", tag_field="do", kw_only=True, frozen=True):
    """Runs a bash script to its end."""

    run: str
    satisfied_by: Satisfied | None = None
    look_first: bool = False
    """Its gates that look at the world are asked before it runs: all green means that it is true already."""
    progress: Progress | None = None


class Serve(StepBase, tag="serve", tag_field="do", kw_only=True, frozen=True):
    """Starts a server and waits until it is ready."""

    run: str
    server: str


class Stop(StepBase, tag="stop", tag_field="do", kw_only=True, frozen=True):
    """Stops a server's whole process group."""

    server: str
    grace_s: float = 30.0
    """How long TERM may take before KILL."""


class Confirm(StepBase, tag="confirm", tag_field="do", kw_only=True, frozen=True):
    """Asks the operator."""

    ask: str


class Collect(StepBase, tag="collect", tag_field="do", kw_only=True, frozen=True):
    """Reads the pass's result files, checks coverage and audio, and writes its metrics."""


class Summarize(StepBase, tag="summarize", tag_field="do", kw_only=True, frozen=True):
    """Prints the table over the scored passes of each series."""


Step: TypeAlias = Command | Serve | Stop | Confirm | Collect | Summarize


class Server(Part, kw_only=True, frozen=True):
    """A server that steps start and stop, and what makes it READY."""

    title: str
    port: str
    health: str = "/health"
    model: str = ""
    """The id that `/v1/models` must list; empty when it is not asked."""
    word: str = "READY"
    timeout_s: float = 1800.0
    remedies: tuple[Remedy, ...] = ()


class Phase(Part, kw_only=True, frozen=True):
    """A chapter. `per` says how often it comes: once a run, once a series, or in every pass."""

    id: str
    title: str
    note: str = ""
    when: When = {}
    per: Literal["run", "series", "pass"] = "run"
    steps: tuple[Step, ...] = ()


class Passes(Part, frozen=True, kw_only=True):
    """What the passes have in common."""

    place: str = "host"
    """Where the output folder lies."""
    out: str = ""
    """The output folder of a pass; moved aside, never deleted, when the pass is begun again."""
    unscored: tuple[str, ...] = ()


class Schedule(Part, frozen=True, kw_only=True):
    """An order of passes, as `series/pass`."""

    id: str
    title: str
    order: tuple[str, ...]
    note: str = ""
    series: Mapping[str, Mapping[str, str]] = {}
    """Values that a series has for itself, over those of the run."""


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


class Asset(Part, frozen=True, kw_only=True):
    """A model or a data set of the Hugging Face hub that the page needs."""

    id: str
    repo: str
    kind: Literal["model", "dataset"] = "model"
    revision: str = ""
    """The commit; empty where the page pins none."""
    ref_main: bool = False
    """`refs/main` must name the revision: offline loading by name needs it."""
    private: bool = False
    when: When = {}
    note: str = ""


class Cache(Part, frozen=True, kw_only=True):
    """Where the page keeps what it downloads."""

    place: str = "host"
    hub: str = ""
    """The hub's cache folder, such as `/root/.cache/huggingface/hub`."""


class Reference(Part, frozen=True, kw_only=True):
    """A published result, and the setup that it came from. Never mixed with what a run measured."""

    workload: str
    source: str
    setup: str
    results: str


class MoreResources(Part, frozen=True, kw_only=True):
    """What only some runs need."""

    when: When
    ports: tuple[str, ...] = ()
    gpus: str = ""


class Resources(Part, frozen=True, kw_only=True):
    """What the run needs for itself on this host."""

    ports: tuple[str, ...] = ()
    gpus: str = ""
    also: tuple[MoreResources, ...] = ()


class Runbook(Part, frozen=True, kw_only=True):
    """A whole runbook. Its id is the name of its folder."""

    schema: int
    title: str
    summary: str
    variables: Mapping[str, Variable] = {}
    places: Mapping[str, PlaceSpec] = {}
    environments: Mapping[str, Environment] = {}
    servers: Mapping[str, Server] = {}
    resources: Resources = Resources()
    cache: Cache = Cache()
    assets: tuple[Asset, ...] = ()
    passes: Passes = Passes()
    schedules: tuple[Schedule, ...] = ()
    phases: tuple[Phase, ...] = ()
    workloads: tuple[Workload, ...] = ()
    metrics: tuple[Metric, ...] = ()
    samples: tuple[Samples, ...] = ()
    provenance: tuple[Known, ...] = ()
    references: tuple[Reference, ...] = ()


TABLES: Mapping[str, tuple[type[Part], ...]] = {
    "": (Runbook,),
    "variables": (Variable,),
    "places": (PlaceSpec,),
    "environments": (Environment,),
    "servers": (Server,),
    "resources": (Resources,),
    "also": (MoreResources,),
    "passes": (Passes,),
    "schedules": (Schedule,),
    "phases": (Phase,),
    "steps": (Command, Serve, Stop, Confirm, Collect, Summarize),
    "satisfied_by": (Satisfied,),
    "progress": (Progress,),
    "gates": (Output, PortFree, GpuFree, Coverage, ContainerUp, AssetsCached),
    "deviations": (Deviation,),
    "cache": (Cache,),
    "assets": (Asset,),
    "references": (Reference,),
    "remedies": (Remedy,),
    "workloads": (Workload,),
    "checks": (Check,),
    "metrics": (Metric,),
    "samples": (Samples,),
    "provenance": (Known,),
}
"""Which tables may stand under which key; an error names the nearest of their fields."""
