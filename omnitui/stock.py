"""The assets of a runbook on this host: which it wants, what its cache has, and how to bring the rest."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from omnitui import downloads, store
from omnitui.assets import Cached, Found, Wanted, wanted_of
from omnitui.downloads import Download, Fetched, NotFetched, Progress
from omnitui.errors import OmniError, PlaceError, UsageError
from omnitui.places.inspecting import on_host
from omnitui.probes import assets, rows
from omnitui.probes.rows import RowsReading
from omnitui.runbook import load
from omnitui.runbook.gates import ContainerUp
from omnitui.runbook.narrow import narrow
from omnitui.runbook.schema import Runbook
from omnitui.runbook.variables import BUILT_IN, expand, names_in, refusal, resolved
from omnitui.values import spec_of


class Shelf(Struct, frozen=True):
    """What a runbook wants with these values, and where it keeps it."""

    source: str
    """What the operator named: an id or a folder."""
    runbook: str
    title: str
    place: str
    """The container that the cache belongs to; empty on the host."""
    cache: str
    """The cache's path there."""
    hub: Path
    """The same on this host."""
    assets: tuple[Wanted, ...]
    given: Mapping[str, str] = {}
    """The values that the operator gave, without secrets."""
    planned: bool = False
    """The container is not there: `hub` is what the page will mount into it."""

    @property
    def inside(self) -> str:
        """Which container the cache belongs to, and how it is called there; empty on the host."""
        if not self.place:
            return ""
        how = "will be" if self.planned else "is"
        return f", which {how} {self.cache} in container {self.place}"


class Stock(Struct, frozen=True):
    """What a look at a shelf told; `error` says why there was none."""

    shelf: Shelf
    found: tuple[Found, ...] = ()
    error: str = ""

    @property
    def complete(self) -> bool:
        """Whether every asset is there, whole."""
        return not self.error and all(isinstance(one.state, Cached) for one in self.found)

    def lacking(self) -> tuple[Wanted, ...]:
        """The assets that are not there as the page wants them."""
        return tuple(one.asset for one in self.found if not isinstance(one.state, Cached))


def shelf_of(name: str, given: Mapping[str, str], *, lenient: bool = False) -> Shelf:
    """The shelf of a runbook (an id or a folder). Variables that no asset needs need no value.

    `lenient` leaves out values that do not fit, as those of a form that is not yet filled in. Raises `OmniError`.
    """
    folder = load.locate(name)
    runbook = load.load(folder)
    values = _values(runbook, given, lenient=lenient)
    runbook = narrow(runbook, values)
    if not runbook.assets:
        raise UsageError(f"the runbook {folder.name} names no models or data sets")
    spec = spec_of(runbook, runbook.cache.place, values)
    cache = expand(runbook.cache.hub, values)
    try:
        hub, planned = assets.hub_of(runbook, values), False
    except PlaceError as error:
        hub, planned = _described(runbook, values, cache, error), True
    return Shelf(
        source=name,
        runbook=folder.name,
        title=runbook.title,
        place=spec.container if spec.kind == "docker" else "",
        cache=cache,
        hub=hub,
        planned=planned,
        assets=wanted_of(runbook, values),
        given={name: value for name, value in given.items() if not runbook.variables[name].secret},
    )


def _described(runbook: Runbook, values: Mapping[str, str], cache: str, error: PlaceError) -> Path:
    """The folder that the page will mount as the cache: models may be there before the container is."""
    gates = (gate for phase in runbook.phases for step in phase.steps for gate in step.gates)
    fits = (gate for gate in gates if isinstance(gate, ContainerUp) and gate.place == runbook.cache.place)
    described = on_host({inside: outside for gate in fits for inside, outside in gate.mounts.items()}, cache)
    if described is None:
        raise error
    missing = [name for name in names_in(str(described)) if name not in values]
    if missing:
        raise PlaceError(f"{error}; make it first, or say which folder it will be given: --set {missing[0]}=...")
    return Path(expand(str(described), values))


def _values(runbook: Runbook, given: Mapping[str, str], *, lenient: bool) -> dict[str, str]:
    own = {name: variable.default for name, variable in runbook.variables.items() if variable.default is not None}
    for name, value in given.items():
        if name not in runbook.variables:
            raise UsageError(
                f"the runbook has no variable {name}; it has: {', '.join(runbook.variables) or 'none'}"
            )
        reason = refusal(runbook, name, value)
        if reason and not lenient:
            raise UsageError(reason)
        if not reason and not runbook.variables[name].secret:
            own[name] = value
    unknown = {name: f"${{{name}}}" for name in (*BUILT_IN, *runbook.variables) if name not in own}
    return {name: value for name, value in resolved(own, unknown).items() if not names_in(value)}


def look(shelf: Shelf) -> Stock:
    """Look at the cache, in a child process."""
    found = assets.reading(shelf.hub, shelf.assets)
    return Stock(shelf, found.assets, found.error)


def news(found: Found, hub: Path) -> Progress | NotFetched | None:
    """The download of an asset that is at work, or why the last one failed, if that still matters."""
    event = downloads.find(hub, found.asset).last()
    if isinstance(event, NotFetched) and isinstance(found.state, Cached):
        return None
    return None if isinstance(event, Fetched) else event


def fetch(shelf: Shelf, asset: Wanted, secrets: Mapping[str, str] | None = None) -> Download:
    """Begin to download one asset, or find its download that is at work. Raises `OmniError`."""
    try:
        return downloads.begin(shelf.hub, asset, secrets)
    except OmniError as error:
        raise OmniError(f"{error}; instead: {' && '.join(by_hand(shelf, asset))}") from error


def by_hand(shelf: Shelf, asset: Wanted) -> tuple[str, ...]:
    """The commands that bring an asset where OmniTUI may not write."""
    kind = " --repo-type dataset" if asset.kind == "dataset" else ""
    revision = f" --revision {asset.revision}" if asset.revision else ""
    inside = f"docker exec -e HF_TOKEN {shelf.place} " if shelf.place else ""
    bring = f"{inside}hf download {asset.repo}{kind}{revision} --cache-dir {shelf.cache}"
    if not (asset.ref_main and asset.revision):
        return (bring,)
    refs = f"{shelf.cache}/{asset.kind}s--{asset.repo.replace('/', '--')}/refs"
    return bring, f"{inside}sh -c 'mkdir -p {refs} && printf %s {asset.revision} > {refs}/main'"


class Counted(Struct, frozen=True):
    """The rows of one data set, as they were counted at a time."""

    at: str
    asset: str
    repo: str
    revision: str
    rows: RowsReading


def count_rows(stock: Stock, found: Found) -> Counted | None:
    """Count the rows of a data set that is there, and note them in OmniTUI's home; None for anything else."""
    if found.asset.kind != "dataset" or not isinstance(found.state, Cached):
        return None
    asset, revision = found.asset, found.state.revision
    reading = rows.reading(rows.Request(str(stock.shelf.hub), asset.repo, revision))
    counted = Counted(store.now(), asset.id, asset.repo, revision, reading)
    file = rows_file(stock.shelf)
    store.make_folder(file.parent)
    try:
        with file.open("ab") as noted:
            noted.write(msgspec.json.encode(counted) + b"\n")
    except OSError as error:
        raise OmniError(f"{file} cannot be written: {error.strerror}") from error
    return counted


def rows_file(shelf: Shelf) -> Path:
    """Every count of the data sets of a runbook, one JSON object a line."""
    return store.home() / "assets" / f"{shelf.runbook}-rows.jsonl"
