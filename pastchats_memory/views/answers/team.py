"""Define the answers of `team` that need more than its reports."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pastchats_memory.fields import Count, Flat, Shown, answer
from pastchats_memory.team.report import SharePreview


@answer("team/1")
class TeamShareBody(NamedTuple):
    """Output of `team share --json`."""

    preview: Annotated[SharePreview, Flat()]
    is_shared: Annotated[bool, Shown(after="redactions")]


@answer("team/1")
class TeamInitBody(NamedTuple):
    """Output of `team init --json`."""

    sql: str
    is_applied: bool


@answer("team/1")
class TeamWithdrawBody(NamedTuple):
    """Output of `team withdraw --json`; the results are the withdrawn projects, none for all."""

    withdrawn: Annotated[Count, "Rows that were deleted there."]
    results: Sequence[str]
