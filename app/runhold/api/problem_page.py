"""The page that a problem's ``type`` opens: every refusal, by its code."""

from __future__ import annotations

import inspect
from html import escape

from runhold.api.problems import PROBLEMS
from runhold.domain.errors import AccessDenied, Fault, RefusalError

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Problems · Runhold</title>
<link rel="icon" href="../static/swagger-ui/favicon-32x32.png">
<link rel="stylesheet" href="../static/problems.css">
</head>
<body>
<main>
<h1>Problems</h1>
<p>Every refusal is an <code>application/problem+json</code> document. Decide by its <code>code</code>, never by
<code>detail</code>.</p>
{entries}
</main>
</body>
</html>
"""


def problem_page() -> str:
    """Write the page: an entry for each code, whose id is the code."""
    ordered = sorted(PROBLEMS.items(), key=lambda item: (item[1][1], item[0]))
    return _PAGE.format(entries="\n".join(_entry(code, kind, status) for code, (kind, status) in ordered))


def _entry(code: str, kind: type[RefusalError], status: int) -> str:
    meaning = " ".join((inspect.getdoc(kind) or "").split())
    return (
        f'<section id="{escape(code)}"><h2><a href="#{escape(code)}">{escape(code)}</a> <small>{status}</small></h2>'
        f"<p>{escape(meaning)}</p><p>{escape(_advice(kind))}</p></section>"
    )


def _advice(kind: type[RefusalError]) -> str:
    if issubclass(kind, Fault):
        return "Temporary: send the very same request again, not before Retry-After says."
    if issubclass(kind, AccessDenied):
        return "Mend the credentials, then send the same request again."
    return "Permanent: nothing was written, and repeating it cannot help unless another command changes what is stored."
