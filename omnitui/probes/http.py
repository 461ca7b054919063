"""One look at a server's health page, from the place where it runs. Always 127.0.0.1, never longer than asked."""

import msgspec
from msgspec import Struct

from omnitui.places import Local, Place
from omnitui.places.base import Answer

__all__ = ["TIMEOUT_S", "Answer", "Client"]

TIMEOUT_S = 3.0


class Client:
    """A kept connection to one port of a place."""

    def __init__(self, port: int, timeout_s: float = TIMEOUT_S, place: Place | None = None) -> None:
        self._connection = (place or Local()).connection(port, timeout_s)

    def get(self, path: str) -> Answer:
        """GET `path`; errors are answers."""
        return self._connection.get(path)

    def models(self) -> tuple[tuple[str, ...] | None, str]:
        """The ids that `/v1/models` lists (the OpenAI API's list), or None and why not."""
        answer = self.get("/v1/models")
        if answer.status != 200:
            return None, answer.error or f"HTTP status {answer.status}"
        try:
            return tuple(model.id for model in msgspec.json.decode(answer.body, type=_Models).data), ""
        except msgspec.MsgspecError as error:
            return None, f"not a list of models: {error}"

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class _Model(Struct):
    id: str


class _Models(Struct):
    data: list[_Model]
