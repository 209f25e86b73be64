"""The command `release-desk`: serves the dashboard with its own settings and prints the curator's link."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit import config

from core.base.errors import DeskError
from core.desk.books import LEDGER_VARIABLE
from core.desk.desk import Desk
from core.desk.move_ledger import move_ledger
from core.desk.workspace import outside, workspace
from dashboard.answers.route import AnswersRoute
from dashboard.door import access
from dashboard.door.gate import GatedApp, Lifespan
from dashboard.door.key import PARAMETER, key
from dashboard.door.settings import HERE, settings

FOLDER = Path(__file__).resolve().parent
EVERYWHERE = ("0.0.0.0", "::")
MOVED = (
    f"The ledger, sessions and shared items are in the database now. Start every server with {LEDGER_VARIABLE} as it "
    "is set here; the files in the folder are closed for good, and kept as they were."
)


def main(words: Sequence[str] | None = None) -> None:
    typed = _parser().parse_args(words)
    if typed.move_ledger:
        raise SystemExit(_move_ledger())
    visitors = typed.visitors or access.visitors_only()
    script = FOLDER / ("visitors_app.py" if visitors else "app.py")
    os.environ.setdefault(access.WORKER_VARIABLE, "1")
    # Streamlit looks for settings and secrets beside the program that is named here.
    sys.argv = [str(script)]
    with suppress(KeyboardInterrupt):
        GatedApp(script, _greet(visitors), answers()).run(config=settings(typed.address, typed.port, typed.host))


def _move_ledger() -> int:
    """Moves the workspace's ledger, and says how that went; the number is what a shell is told."""
    try:
        moved = move_ledger(workspace(), os.environ.get(LEDGER_VARIABLE, ""), outside())
    except DeskError as problem:
        print(problem, file=sys.stderr)
        return 1
    print(MOVED if moved else "The ledger of this workspace is in that database already; nothing was left to do.")
    return 0


def answers() -> AnswersRoute | None:
    """Where programs ask: beside the pages, at a desk of its own on the same workspace; never in a demo, whose
    workspaces belong to one visitor each."""
    return None if access.demo() else AnswersRoute(cache(Desk))


def greeting(visitors: bool) -> str:
    """What is printed once the server listens; the link is the only place where the key is ever written."""
    plain = address()
    if visitors:
        return f"Release Desk shows what is shared, and nothing else, at\n\n    {plain}\n"
    if access.demo():
        return f"Release Desk shows a public demo at\n\n    {plain}\n"
    if access.login_section() is not None:
        return f"Release Desk is at the address below; curators log in there.\n\n    {plain}\n"
    return (
        "Release Desk: open this link to work as the curator. It holds until the server stops; keep it to yourself.\n\n"
        f"    {plain}?{PARAMETER}={key().secret}\n\nWithout it, visitors at this machine see what is shared: {plain}\n"
    )


def address() -> str:
    """Where the server listens, as a browser writes it."""
    name = config.get_option("server.address")
    shown = HERE if name in EVERYWHERE else f"[{name}]" if ":" in name else name
    scheme = "https" if config.get_option("server.sslCertFile") else "http"
    base = config.get_option("server.baseUrlPath").strip("/")
    return f"{scheme}://{shown}:{config.get_option('server.port')}/{base + '/' if base else ''}"


def _greet(visitors: bool) -> Lifespan:
    @asynccontextmanager
    async def lifespan(app: st.App) -> AsyncIterator[None]:
        # The port is known only now: a taken one leads to the next.
        print(greeting(visitors), flush=True)
        yield

    return lifespan


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="release-desk", description="Serve the dashboard on this machine.")
    parser.add_argument("--port", type=int, help="the port to listen on; by default the first free one from 8501")
    parser.add_argument("--address", default=HERE, help="the address to listen on; by default this machine alone")
    parser.add_argument("--host", action="append", default=[], help="a name under which a proxy serves it; repeatable")
    parser.add_argument("--visitors", action="store_true", help="serve what is shared, without the curator's pages")
    parser.add_argument(
        "--move-ledger",
        action="store_true",
        help=f"move the ledger of the workspace to the empty database that {LEDGER_VARIABLE} names, and end",
    )
    return parser


if __name__ == "__main__":
    main()
