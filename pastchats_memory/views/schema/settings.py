"""Define the views of configuration and installation."""

from typing import Annotated, Literal, TypedDict

from pastchats_memory.views.schema.fields import Count, one_of


class SettingView(TypedDict):
    """A setting with its value and where the value comes from."""

    key: Annotated[str, {"minLength": 1}]
    value: Annotated[object, "The effective value; a secret is shown as set."]
    origin: Annotated[str, {"minLength": 1}, "default, a flag, an environment variable, or FILE:LINE."]


class ConfigBody(TypedDict):
    """Output of `config --json`: every setting with its value and origin."""

    schema: Literal["config/1"]
    results: Annotated[list[SettingView], {"minItems": 1}]
    warnings: Annotated[list[str], "Settings of the project's file that were ignored, and why."]


class ExclusionView(TypedDict):
    """A pattern that is excluded in the user's own file."""

    pattern: str
    stored: Annotated[Count, "Rows in the memory that match a pattern excluded just now; they stay until forgotten."]


class ExcludeBody(TypedDict):
    """Output of `exclude --json`: the patterns that are excluded in the user's own file."""

    schema: Literal["exclude/1"]
    results: list[ExclusionView]


class FileChangeView(TypedDict):
    """A change of a settings file."""

    path: Annotated[str, {"minLength": 1}]
    diff: Annotated[str, {"minLength": 1}, "Unified diff."]
    is_changed: Annotated[bool, "False if the change was only shown."]
    copy: Annotated[str | None, "Path of a copy from before the change; null if there was no file or no change."]


class InstallBody(TypedDict):
    """Output of `install --json`."""

    schema: Literal["install/1"]
    results: list[FileChangeView]


class UninstallBody(TypedDict):
    """Output of `uninstall --json`."""

    schema: Literal["uninstall/1"]
    results: list[FileChangeView]


class SetupStepView(TypedDict):
    """A step of `setup`."""

    step: Annotated[str, one_of("history", "index", "hooks", "skills", "server", "recall")]
    agent: Annotated[str, "The agent or program; empty for a step of our own."]
    path: Annotated[str | None, "The file or folder of the step; null for none."]
    state: Annotated[str, one_of("found", "planned", "done", "present", "removed", "declined", "refused")]
    detail: Annotated[str, {"minLength": 1}]


class SetupBody(TypedDict):
    """Output of `setup --json`."""

    schema: Literal["setup/1"]
    recall: Annotated[str | None, "The block for the newest prompt; null if there is none yet."]
    results: list[SetupStepView]
