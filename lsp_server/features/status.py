"""The readiness of the configs that a file is or is read by, for a status bar."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lsprotocol import types
from nemo_resumable.core.findings import Severity
from pygls.exceptions import JsonRpcInvalidParams

from .. import mending
from ..analyses import Result
from ..server import Server
from .names import STATUS


def register(server: Server) -> None:
    """Give the server its handlers."""

    @server.command(STATUS)
    async def status(ls: Server, params: types.ExecuteCommandParams) -> dict[str, list[dict[str, Any]]]:
        """Arguments: the URI of a file. The configs are none where it is neither one nor read by one that is known."""
        uri = (params.arguments or [None])[0]
        if not isinstance(uri, str):
            raise JsonRpcInvalidParams("the first argument has to be the URI of a file")
        path = ls.session.path_of(uri)
        if path is None:
            return {"configs": []}
        await ls.session.fresh(path)
        configs = [result for result in ls.session.analyses.of(path) if result.analysis.configs]
        own = [result for result in configs if result.root == path]
        return {"configs": [_status(ls, result) for result in own or configs]}


def _status(server: Server, result: Result) -> dict[str, Any]:
    open_findings = [finding for finding in result.analysis.findings if finding.suppressed is None]
    found = Counter(finding.severity for finding in open_findings)
    config = result.analysis.configs[0]
    return {
        "uri": server.session.uri_of(result.root),
        "name": result.root.name,
        "readiness": config.readiness,
        "unverified": list(config.unverified),
        "findings": {level.value: found[level] for level in Severity},
        "fixable": sum(mending.offered(each) and mending.is_safe([each]) for each in open_findings),
    }
