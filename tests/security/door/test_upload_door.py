"""Streamlit's own address for uploads, and its statistics: for those who may upload, up to a limit."""

from __future__ import annotations

import asyncio
import http.client
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest
from streamlit.proto.Common_pb2 import FileURLs as FileURLsProto
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

from dashboard.door.uploads import Uploads
from tests.dashboard.server import Server, plain_streamlit, serving
from tests.security.door.visitors import PATIENCE, arriving, visit

MEGABYTE = 1 << 20
LARGE, TIMES = 60 * MEGABYTE, 5
STATISTICS = "/_stcore/metrics"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("uploads") / "home") as running:
        yield running


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("demo") / "home", RELEASE_DESK_DEMO="1") as running:
        yield running


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The mutant: no gate."""
    with plain_streamlit(tmp_path_factory.mktemp("bare") / "home") as running:
        yield running


def test_what_a_widget_holds_is_not_copied_at_each_run_of_its_page() -> None:
    """A copy takes as much memory as the file, once more for every curator who clicks."""
    record = UploadedFileRec(file_id="1", name="people.csv", type="text/csv", data=bytes(MEGABYTE))
    file = UploadedFile(record, FileURLsProto())
    assert deepcopy(file) is file
    assert deepcopy([file])[0] is file


def send(server: Server, method: str, path: str, size: int = 0, **headers: str) -> tuple[int, str]:
    """The status and the text of an answer; the server may stop listening before all is sent."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.putrequest(method, path)
    for name, value in headers.items():
        connection.putheader(name, value)
    head = b'--line\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n' if size else b""
    tail = b"\r\n--line--\r\n" if size else b""
    if size:
        connection.putheader("Content-Type", "multipart/form-data; boundary=line")
        connection.putheader("Content-Length", str(len(head) + size + len(tail)))
    try:
        connection.endheaders()
        connection.send(head)
        for _ in range(size // MEGABYTE):
            connection.send(bytes(MEGABYTE))
        connection.send(bytes(size % MEGABYTE) + tail)
    except OSError:
        pass
    try:
        response = connection.getresponse()
        return response.status, text_of(response)
    except OSError:
        return 0, "the connection was closed"
    finally:
        connection.close()


def text_of(response: http.client.HTTPResponse) -> str:
    """As much of an answer's text as arrived: a server that stops listening may cut it off behind the status."""
    try:
        return response.read().decode(errors="replace")
    except http.client.IncompleteRead as cut:
        return cut.partial.decode(errors="replace")


def with_token(server: Server) -> dict[str, str]:
    """What Streamlit's own page sends along with an upload, so that no other page can."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("GET", "/_stcore/health")
    cookie = connection.getresponse().headers["Set-Cookie"]
    connection.close()
    token = str(cookie.partition("_streamlit_xsrf=")[2].partition(";")[0].strip('"'))
    return {"Cookie": f"_streamlit_xsrf={token}", "X-Xsrftoken": token}


def upload(server: Server, session: str, name: str, size: int, method: str = "PUT") -> tuple[int, str]:
    return send(server, method, f"/_stcore/upload_file/{session}/{name}", size, **with_token(server))


async def fill(server: Server, headers: dict[str, str]) -> tuple[list[int], int]:
    """Statuses of several large uploads in a session that is open, and by how much the server grew."""
    async with arriving(server, headers=headers) as seen:
        before = server.memory()
        answers = [await asyncio.to_thread(upload, server, seen.session, str(n), LARGE) for n in range(TIMES)]
        return [status for status, _ in answers], server.memory() - before


@pytest.mark.exhaustive
def test_a_visitor_cannot_fill_the_memory(server: Server) -> None:
    statuses, growth = asyncio.run(fill(server, {}))
    assert set(statuses) <= {403, 0}
    assert growth < LARGE


@pytest.mark.exhaustive
def test_nor_can_the_guest_of_a_demo(demo: Server) -> None:
    statuses, growth = asyncio.run(fill(demo, {}))
    assert set(statuses) <= {413, 0}
    assert growth < LARGE


@pytest.mark.exhaustive
def test_without_the_gate_a_visitor_could(bare: Server) -> None:
    statuses, growth = asyncio.run(fill(bare, {}))
    assert statuses == [204] * TIMES
    assert growth > TIMES * LARGE * 0.8


@pytest.mark.exhaustive
def test_a_curator_uploads_and_the_memory_is_given_back(server: Server) -> None:
    async def through() -> None:
        async with arriving(server, headers=server.cookie) as seen:
            before = server.memory()
            assert (await asyncio.to_thread(upload, server, seen.session, "a", LARGE))[0] == 204
            assert server.memory() - before > LARGE * 0.8
            assert (await asyncio.to_thread(upload, server, seen.session, "a", 0, "DELETE"))[0] == 204
            assert server.memory() - before < LARGE * 0.5

    asyncio.run(through())


@pytest.mark.exhaustive
def test_a_curator_needs_the_token_of_the_page(server: Server) -> None:
    async def through() -> tuple[int, str]:
        async with arriving(server, headers=server.cookie) as seen:
            path = f"/_stcore/upload_file/{seen.session}/a"
            return await asyncio.to_thread(send, server, "PUT", path, 10, **server.cookie)

    status, text = asyncio.run(through())
    assert status == 403
    assert "XSRF" in text


@pytest.mark.exhaustive
def test_a_session_holds_no_more_than_two_of_the_largest_files(server: Server) -> None:
    async def through() -> list[tuple[int, str]]:
        async with arriving(server, headers=server.cookie) as seen:
            path = f"/_stcore/upload_file/{seen.session}/a"
            announced = {"Content-Length": str(1025 * MEGABYTE)}
            unknown = {"Transfer-Encoding": "chunked"}
            return [await asyncio.to_thread(send, server, "PUT", path, 0, **length) for length in (announced, unknown)]

    (much, sentence), (unknown, _) = asyncio.run(through())
    assert (much, unknown) == (413, 411)
    assert "this session holds as much as it may" in sentence


def in_chunks(server: Server, session: str, announced: int, size: int) -> int:
    """The status of an upload that announces one size and sends another, in chunks."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.putrequest("PUT", f"/_stcore/upload_file/{session}/a")
    headers = {"Content-Type": "multipart/form-data; boundary=line", "Content-Length": str(announced)}
    for name, value in (headers | {"Transfer-Encoding": "chunked"} | with_token(server)).items():
        connection.putheader(name, value)
    head = b'--line\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    try:
        connection.endheaders()
        for part in (head, *[bytes(MEGABYTE)] * (size // MEGABYTE), b"\r\n--line--\r\n", b""):
            connection.send(b"%x\r\n%b\r\n" % (len(part), part))
    except OSError:
        pass
    try:
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


@pytest.mark.exhaustive
def test_chunks_are_not_let_in_under_a_small_number(demo: Server) -> None:
    """Of a length and chunks the server believes the chunks: 10 bytes were announced and 60 MB kept."""

    async def through() -> tuple[int, int]:
        async with arriving(demo) as seen:
            before = demo.memory()
            return await asyncio.to_thread(in_chunks, demo, seen.session, 10, LARGE), demo.memory() - before

    status, growth = asyncio.run(through())
    assert status in (411, 0)
    assert growth < LARGE * 0.5


@pytest.mark.exhaustive
def test_a_session_that_ended_uploads_no_more(server: Server) -> None:
    session = asyncio.run(visit(server, headers=server.cookie)).session
    asyncio.run(visit(server, headers=server.cookie))
    assert upload(server, session, "a", 10)[0] in (400, 403)


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", [STATISTICS, f"{STATISTICS}/", f"{STATISTICS}?families=cache_memory_bytes"])
def test_statistics_are_closed(server: Server, path: str) -> None:
    for headers in ({}, server.cookie, {"Accept": "application/x-protobuf"}):
        status, text = send(server, "GET", path, **headers)
        assert status == 404
        assert "sessions" not in text


@pytest.mark.exhaustive
def test_without_the_gate_they_are_open(bare: Server) -> None:
    status, text = send(bare, "GET", STATISTICS)
    assert status == 200
    assert "sessions" in text


def test_room_is_kept_while_files_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    register, held = Uploads(), {"a": 30}
    monkeypatch.setattr("dashboard.door.uploads._received", lambda session: held.get(session, 0))
    monkeypatch.setattr("dashboard.door.uploads._active", lambda session: session == "a")
    register.admit("a", 100)
    with register.room("a", 50) as first, register.room("a", 30) as second, register.room("a", 20) as third:
        assert (first, second, third) == (True, False, True)
    with register.room("a", 70) as again, register.room("b", 0) as stranger:
        assert again
        assert stranger, "nothing is nothing"
    with register.room("b", 1) as stranger:
        assert not stranger
    register.admit("b", 100)
    assert register.admitted("a")
    register.admit("a", 100)
    assert not register.admitted("b"), "a session that ended is forgotten"
    register.admit("a", 0)
    assert not register.admitted("a")


@pytest.mark.exhaustive
def test_nothing_of_it_is_left_on_disk(server: Server) -> None:
    assert not list(Path(server.home).rglob("*a.csv*"))
