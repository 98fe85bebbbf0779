"""A method whose model is asked nothing new, so that trying settings costs nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tracert.errors import SettingError
from tracert.language.base import ChatModel
from tracert.methods.base import Resources, Walk
from tracert.methods.registry import method


class AskedAgain(SettingError):
    """With these settings the walk would ask the model something new."""


class Unasked:
    """A method as it is, but for a model that is asked nothing new.

    The preparation is the method's own, so that a workspace's kept replies are used; a walk that
    would need another one ends in `AskedAgain`.
    """

    def __init__(self, name: str) -> None:
        """The method of that name.

        Raises:
            SettingError: there is none.
        """
        self._inner = method(name)
        self.name, self.title = self._inner.name, self._inner.title
        self.summary, self.needs = self._inner.summary, self._inner.needs
        self.settings_type, self.prepare = self._inner.settings_type, self._inner.prepare

    def walk(self, prepared: Any, settings: Any, resources: Resources) -> Walk:
        """The walk of the method, its model silenced.

        Raises:
            AskedAgain: the walk would ask the model.
        """
        model = None if resources.model is None else _Silent(resources.model)
        return (yield from self._inner.walk(prepared, settings, replace(resources, model=model)))


class _Silent:
    """A chat model that answers nothing."""

    def __init__(self, model: ChatModel) -> None:
        self.name = model.name

    def complete(self, *_: Any, **__: Any) -> Any:
        raise AskedAgain(f"With these settings {self.name} would be asked anew.")
