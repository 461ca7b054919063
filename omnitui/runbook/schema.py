"""The types of a runbook. Every table that a runbook may have is named in `TABLES`; unknown fields are refused.

Strings may name variables as `${NAME}`, except in scripts (`run`, `prelude`), where bash expands them: a script
runs byte for byte as it was written.
"""

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from omnitui.runbook.gates import AssetsCached, ContainerUp, Coverage, Gate, GpuFree, Output, PortFree, Remedy
from omnitui.runbook.measured import Check, Known, Metric, Reference, Samples, Workload
from omnitui.runbook.part import Part, Role, When

ENTRY = re.compile(r"[A-Za-z0-9-][A-Za-z0-9.-]*/[A-Za-z0-9-][A-Za-z0-9.-]*")
"""One pass of a schedule, as `series/pass`."""


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
