"""Drafts over reloads and new tabs: what was filled in is kept in the workspace and offered again.

Only a curator has drafts; what they are and when their files are removed is said in `core/desk/kept/drafts.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from core.base.errors import DeskError
from core.base.wording import plural
from core.desk.desk import Desk
from core.desk.kept.drafts import DAYS, KeptDraft
from dashboard.door import access
from dashboard.views.common import messages
from dashboard.views.common.wording import moment
from dashboard.views.data import schema_grid, text_form, upload
from dashboard.views.data.draft import DEMO, Draft
from dashboard.views.data.servers import database_form

MOST_OFFERED = 3
FIELDS = ("unit-{}", "id-{}", "limit-{}", "neighbours-{}", "total-epsilon", "total-delta")
"""Widgets beside the grid whose values are kept; those of one table carry its identity."""


def take_up(draft: Draft, desk: Desk) -> None:
    """Keep from now on what was just chosen, an upload with a copy of its file."""
    who = access.curator()
    if who is None or draft.id:
        return
    try:
        if draft.file is None:
            draft.id = desk.drafts.begin(who)
        else:
            draft.id = desk.drafts.begin(who, upload.suffix_of(draft.file.name), draft.file.getvalue())
            draft.copy = desk.drafts.file(who, draft.id)
    except DeskError:
        # Without room for a copy the table can still be described; it only has to be done in one go.
        draft.id = ""


def same_file(draft: Draft, desk: Desk, file: Any) -> bool:
    """Whether this upload was begun before: then its draft goes on, whether or not the curator noticed the offer."""
    who = access.curator()
    if who is None:
        return False
    try:
        kept = desk.drafts.of_file(who, upload.suffix_of(file.name), file.getvalue())
    except DeskError:
        return False
    if kept is None:
        return False
    if draft.id != kept.id:
        drop(draft, desk)
    _resume(draft, kept)
    return draft.id == kept.id


def keep(draft: Draft, desk: Desk) -> None:
    """Write down what has changed since the last run of the page."""
    who = access.curator()
    # What was written down once is kept up, also where all is taken back: else the older state would be offered.
    if who is None or not draft.id or not draft.columns or not (draft.written_down or _begun(draft)):
        return
    content = _content(draft)
    text = json.dumps(content)
    if text != draft.written_down:
        desk.drafts.write(who, draft.id, content)
        draft.written_down = text


def _begun(draft: Draft) -> bool:
    """Whether it would be missed: an upload is, and anything that was said of a table; a path is soon typed again."""
    if draft.file is not None or draft.copy is not None or draft.names or draft.rules:
        return True
    unit = st.session_state.get(f"unit-{draft.identity}")
    return unit is not None or not draft.latest.equals(schema_grid.from_columns(draft.columns))


def drop(draft: Draft, desk: Desk) -> None:
    """Remove it with its file: the table is open, or the curator took it away."""
    who = access.curator()
    if who is not None and draft.id:
        desk.drafts.remove(who, draft.id)
        draft.id, draft.copy, draft.written_down = "", None, ""


def offer(draft: Draft, desk: Desk) -> None:
    """What was begun in another visit, to go on with or to discard."""
    who = access.curator()
    if who is None:
        return
    if draft.id:
        return
    for kept in desk.drafts.of(who)[:MOST_OFFERED]:
        _offered(draft, desk, who, kept)


def promise(draft: Draft) -> str:
    """What is said of a table that is kept as a draft."""
    if not draft.id or (draft.copy is None and not draft.written_down):
        return ""
    return f" Kept as a draft on this machine until it is open, for at most {plural(DAYS, 'day')}."


def _offered(draft: Draft, desk: Desk, who: str, kept: KeptDraft) -> None:
    name, columns = str(kept.content.get("name", "")), kept.content.get("columns")
    if not isinstance(columns, list) or (kept.content.get("upload") and kept.file is None):
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**You began to describe '{messages.plain(name)}'** ({plural(len(columns), 'column')}), "
            f"last on {moment(kept.saved.isoformat())}."
        )
        go_on, discard = f"draft-{kept.id}", f"discard-{kept.id}"
        st.button("Go on with it", key=go_on, icon=":material/history:", on_click=_resume, args=(draft, kept))
        remove, which = desk.drafts.remove, (who, kept.id)
        st.button("Discard it", key=discard, icon=":material/delete:", on_click=remove, args=which)


def _content(draft: Draft) -> dict[str, Any]:
    fields = {name: st.session_state.get(name.format(draft.identity)) for name in FIELDS}
    return {
        "way": draft.way,
        "origin": draft.origin,
        "name": draft.name,
        "upload": draft.file is not None or draft.copy is not None,
        "path": None if draft.path is None else str(draft.path),
        "database": _database(draft),
        "written": list(draft.written),
        "tables": list(draft.tables),
        "table": draft.table,
        "columns": [list(column) for column in draft.columns],
        "names": draft.names,
        "rules": draft.rules,
        "grid": json.loads(draft.latest.to_json(orient="records")),
        "fields": {name: value for name, value in fields.items() if isinstance(value, str | int | float)},
    }


def _database(draft: Draft) -> list[str] | None:
    """By the name that the page has for it: an address may hold a password."""
    source = draft.database
    return None if source is None else [draft.database_name, source.schema, source.table]


def _resume(draft: Draft, kept: KeptDraft) -> None:
    """In a callback: fields can be filled before they are drawn only."""
    try:
        found = _read(kept)
    except (KeyError, TypeError, ValueError, DeskError):
        draft.problem = "The draft cannot be read; begin again with the table."
        return
    vars(draft).update(vars(found))
    st.session_state["source"] = draft.way
    text_form.fill(draft.written)
    if draft.path is not None:
        st.session_state["server-path"] = str(draft.path)
    if draft.database is not None:
        database_form.fill(draft.database_name, draft.database)
    for name, value in dict(kept.content.get("fields", {})).items():
        if name in FIELDS:
            st.session_state[name.format(draft.identity)] = value


def _read(kept: KeptDraft) -> Draft:
    content = kept.content
    draft = Draft(way=str(content["way"]), origin=str(content["origin"]), name=str(content["name"]), id=kept.id)
    draft.copy, draft.written_down = kept.file, json.dumps(content)
    # A path is asked about again whenever it is read: what may be read can have changed since.
    draft.path = None if content["path"] is None else Path(str(content["path"]))
    if (database := content.get("database")) is not None:
        draft.database_name, schema, table = (str(part) for part in database)
        draft.database = database_form.named(draft.database_name, schema, table)
    encoding, decimal = content["written"]
    draft.written = ("latin-1" if encoding == "latin-1" else "utf-8", "," if decimal == "," else ".")
    draft.tables = tuple(str(name) for name in content["tables"])
    draft.table = None if content["table"] is None else str(content["table"])
    draft.columns = tuple((str(name), str(kind)) for name, kind in content["columns"])
    draft.names = {str(own): str(given) for own, given in dict(content.get("names", {})).items()}
    frame = pd.DataFrame(content["grid"], columns=list(schema_grid.TYPES)).astype(schema_grid.TYPES)
    if draft.origin.partition(" ")[0] == DEMO or list(frame["name"]) != list(dict.fromkeys(frame["name"])):
        raise ValueError
    draft.restart(frame, "The draft is back as it was left.", str(content.get("rules", "")).splitlines())
    # Fields of earlier drafts in this visit must not lend their edits.
    draft.version = draft.rules_version = 1_000_000 + int(kept.id[:6], 16)
    return draft
