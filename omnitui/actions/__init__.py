"""What a step does: one function for each kind of step, in one table."""

from omnitui.actions.changes import Changes
from omnitui.actions.command import act_collect, act_command, act_confirm, act_summarize
from omnitui.actions.context import Action, Context, StopAsked
from omnitui.actions.server import act_serve, act_stop, stop_server
from omnitui.runbook.schema import Collect, Command, Confirm, Serve, Step, Stop, Summarize

ACTIONS: dict[type[Step], Action] = {
    Command: act_command,
    Serve: act_serve,
    Stop: act_stop,
    Confirm: act_confirm,
    Collect: act_collect,
    Summarize: act_summarize,
}

__all__ = ["ACTIONS", "Changes", "Context", "StopAsked", "stop_server"]
