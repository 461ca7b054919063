"""What New run tells of a run before it starts. Pure."""

from collections.abc import Iterator, Sequence

from textual.content import Content

from omnitui.sanitise import plain
from omnitui.ui.new_run_messages import RunbookChecked


def preflight_lines(
    checked: RunbookChecked | None,
    warnings: Sequence[str] | None,
    refused: Sequence[tuple[str, str]] | None,
    *,
    order: bool,
) -> Iterator[Content]:
    """What was found of the runbook and of this host, then what does not fit. None: nobody has looked yet.

    `refused` are the variables that do not fit, with their values; `order` is whether the order does not.
    """
    yield Content.styled("Preflight", "bold")
    if checked is None:
        yield Content.styled("◌ checking the runbook", "$text-muted")
    elif checked.problems:
        yield from (Content.styled(f"✘ {plain(one)}", "$text-error") for one in checked.problems)
    else:
        yield Content.styled("✔ the runbook is sound", "$text-success")
    if warnings is not None:
        yield from (Content.styled(f"✘ {plain(one)}", "$text-warning") for one in warnings)
        if not warnings:
            yield Content.styled("✔ nothing on this host stands in the way", "$text-success")
    if order:
        yield Content.styled("✘ the order does not fit", "$text-error")
    for what, names in (
        ("to be set", [name for name, value in refused or () if not value]),
        ("does not fit", [name for name, value in refused or () if value]),
    ):
        if names:
            yield Content.styled(f"✘ {what}: {', '.join(names)}", "$text-error")
    if refused is not None and not refused:
        yield Content.styled("✔ every variable has a value that fits", "$text-success")
