"""A table on Spark is the same table as in a file: every count, misfit and dropped row, and what is made of it."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from core import Budget, Desk, Marginals, question
from core.base.errors import BadFile, BadSchema, DeskError, Refused
from core.privacy.unit import Unit
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.spark import added_vectors, spark_session
from core.table.spark.spark_source import SparkSource
from core.table.spark.spark_table import SparkTable, columns_on_cluster
from core.table.table import Table
from tests.core.table.spark.clusters import DOMAIN, ROOT, connect_server, rows, write
from tests.core.table.spark.test_spark import Fixed
from tests.privacy.kit.pipeline import Pair, release, replayed_on
from tests.privacy.kit.sources import DOMAIN as NEIGHBOURS
from tests.privacy.kit.sources import FORMATS, neighbours

pytestmark = pytest.mark.slow

LOCAL = "local[2]"
UNITS = {
    "rows": Unit.row("replace"),
    "numbers": Unit.id("number", 2),
    "texts": Unit.id("person", 1),
    "fractions": Unit.id("half", 3),
}
PAIRS = list(itertools.combinations(DOMAIN.names, 2))
SECRET = 2**55 + 12345


@pytest.fixture(scope="module", autouse=True)
def quick_java() -> Iterator[None]:
    """Java that compiles little: for so few rows most of the time would go there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def people(folder: Path) -> Path:
    return write(folder / "people", rows())


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[tuple[str, Path]]:
    with connect_server(folder) as (address, log):
        yield address, log
        spark_session.forget()


@pytest.fixture(scope="module", params=["local", "connect"])
def address(request: pytest.FixtureRequest) -> str:
    return LOCAL if request.param == "local" else request.getfixturevalue("server")[0]


def described(address: str, folder: Path, path: Path | str) -> SparkSource:
    return SparkSource(address=address, folder=str(folder / "encoded" / address[:5]), path=str(path))


def same(found: SparkTable, wanted: Table) -> None:
    assert (found.rows, found.dropped_rows, found.misfits) == (wanted.rows, wanted.dropped_rows, wanted.misfits)
    assert (found.layout, found.public_rows) == (wanted.layout, wanted.public_rows)
    found.prepare(PAIRS)
    for pair in [(), *((name,) for name in DOMAIN.names), *PAIRS]:
        assert np.array_equal(found.marginal(pair), wanted.marginal(pair)), pair


@pytest.mark.parametrize(
    ("address", "unit"),
    [*(("local", unit) for unit in UNITS), ("connect", "rows"), ("connect", "texts")],
    indirect=["address"],
)
def test_every_count_is_that_of_the_embedded_table(address: str, unit: str, folder: Path, people: Path) -> None:
    found = SparkTable.load(described(address, folder, people), DOMAIN, UNITS[unit], Fixed())
    same(found, Table.load(people, DOMAIN, UNITS[unit], Fixed()))


def test_what_comes_to_the_desk_is_the_same_however_many_tasks_there_are(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[list] = []
    joined = added_vectors.joined

    def seen(slices: Iterable[tuple[int, bytes]]) -> np.ndarray | None:
        received.append(sorted(slices))
        return joined(received[-1])

    monkeypatch.setattr(added_vectors, "joined", seen)
    opened = spark_session.session(LOCAL)
    told = []
    for most in ("128m", "16k"):
        opened.conf.set("spark.sql.files.maxPartitionBytes", most)
        try:
            found = SparkTable.load(described(LOCAL, tmp_path / most, people), DOMAIN, UNITS["rows"], Fixed())
            found.prepare(PAIRS)
            tasks = found._blocks(("town",)).selectExpr("spark_partition_id() AS task").distinct().count()
        finally:
            opened.conf.unset("spark.sql.files.maxPartitionBytes")
        told.append((tasks, received[:]))
        received.clear()
    assert told[0][0] <= 3 < 6 <= told[1][0], "tasks that had rows"
    assert told[0][1] == told[1][1], "byte for byte"
    assert all(len({number for number, _ in each}) == len(each) for each in told[1][1])


def test_combinations_are_those_of_the_embedded_table(address: str, folder: Path, people: Path) -> None:
    found = SparkTable.load(described(address, folder, people), DOMAIN, UNITS["rows"], Fixed())
    wanted = Table.load(people, DOMAIN, UNITS["rows"], Fixed())
    for columns in (DOMAIN.names, DOMAIN.names[:3]):
        for one, other in zip(found.combinations(columns), wanted.combinations(columns), strict=True):
            assert np.array_equal(one, other)


def test_the_fingerprint_is_that_of_the_contents(folder: Path, people: Path, tmp_path: Path) -> None:
    table = rows()
    source = described(LOCAL, folder, people)
    known = SparkTable.load(source, DOMAIN, UNITS["rows"], Fixed())
    shuffled = pa.array(np.random.default_rng(1).permutation(table.num_rows))
    parquet.write_table(table.take(shuffled), tmp_path / "x.parquet")
    moved = SparkTable.load(described(LOCAL, folder, tmp_path / "*.parquet"), DOMAIN, UNITS["rows"], Fixed())
    assert (moved.fingerprint, moved.place) == (known.fingerprint, known.place), "encoded once"
    parquet.write_table(table.slice(1), tmp_path / "x.parquet")
    other = SparkTable.load(described(LOCAL, folder, tmp_path), DOMAIN, UNITS["rows"], Fixed())
    assert other.fingerprint != known.fingerprint and other.rows == known.rows - 1


def test_a_table_of_the_catalogue_is_one_too(folder: Path, tmp_path: Path) -> None:
    parquet.write_table(rows(), tmp_path / "x.parquet")
    spark_session.session(LOCAL).catalog.createTable("people", path=str(tmp_path), source="parquet")
    source = SparkSource(address=LOCAL, folder=str(folder / "encoded"), table="default.people")
    found = SparkTable.load(source, DOMAIN, UNITS["numbers"], Fixed())
    same(found, Table.load(tmp_path / "x.parquet", DOMAIN, UNITS["numbers"], Fixed()))


def test_files_of_a_delta_table_are_not_taken_for_its_rows(address: str, folder: Path, tmp_path: Path) -> None:
    """Files of removed rows stay in such a folder; only its log says which count."""
    parquet.write_table(rows(), tmp_path / "x.parquet")
    log = tmp_path / "_delta_log"
    log.mkdir()
    (log / "00000000000000000000.json").write_text('{"commitInfo": {}}')
    with pytest.raises(BadFile, match="Delta is not installed"):
        SparkTable.load(described(address, folder, tmp_path), DOMAIN, UNITS["rows"], Fixed())


def test_the_end_of_a_program_waits_for_no_server(server: tuple[str, Path]) -> None:
    """PySpark asks the server once more, and tries for ten minutes where it is gone."""
    program = f"""
from pyspark.sql.connect.client.core import SparkConnectClient
SparkConnectClient._on_exit = lambda client: print("asked once more")
from core.table.spark.spark_session import session
print(session({server[0]!r}).version)
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert told.startswith("4.") and "asked" not in told


def test_columns_are_told_before_there_is_a_schema(address: str, folder: Path, people: Path) -> None:
    told = columns_on_cluster(described(address, folder, people))
    assert [column.name for column in told] == rows().column_names
    assert dict(told)["price"] == "DECIMAL(12,2)"


def test_what_goes_wrong_is_one_sentence_without_a_value(
    server: tuple[str, Path], folder: Path, people: Path, tmp_path: Path
) -> None:
    address, log = server
    with pytest.raises(BadFile, match="no Parquet files"):
        SparkTable.load(described(address, folder, tmp_path / "nothing"), DOMAIN, UNITS["rows"], Fixed())
    with pytest.raises(BadFile, match="no table of this name"):
        columns_on_cluster(SparkSource(address=address, folder="f", table="nobody"))
    domain = Domain((Integers(name="nowhere", low=0, high=9),))
    with pytest.raises(BadSchema, match="'nowhere'"):
        SparkTable.load(described(address, folder, people), domain, UNITS["rows"], Fixed())
    parquet.write_table(pa.table({"id": [float(SECRET)], "age": [3]}), tmp_path / "large.parquet")
    domain = Domain((Integers(name="age", low=0, high=9),))
    with pytest.raises(DeskError, match="'id' holds numbers too large for floats") as problem:
        SparkTable.load(described(address, folder, tmp_path), domain, Unit.id("id", 1), Fixed())
    assert problem.value.__context__ is None
    told = log.read_text()
    assert "too large for floats" in told
    assert not any(secret in told for secret in (str(SECRET), f"{float(SECRET):e}", "Ünïcødé", "person-"))


def damaged(path: Path) -> None:
    """Parquet with a page in which nothing fits."""
    found = parquet.ParquetFile(path).metadata.row_group(0).column(0)
    content = bytearray(path.read_bytes())
    middle = found.data_page_offset + found.total_compressed_size // 3
    content[middle : middle + 60] = b"\xff" * 60
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("packing", ["snappy", "none"])
def test_files_that_do_not_fit_or_are_damaged_are_said_so(
    server: tuple[str, Path], tmp_path: Path, packing: str
) -> None:
    """A page that cannot be unpacked, or one that names values that its dictionary has not."""
    address, log = server
    towns = [f"Geheimstadt-{number % 350}" for number in range(3000)]
    domain = Domain((Categories(name="town", values=("Aa",), other="other"),))
    for name, values in (("a", pa.array(towns)), ("b", pa.array(range(3000)))):
        parquet.write_table(pa.table({"town": values}), tmp_path / f"{name}.parquet", compression=packing)
    with pytest.raises(BadFile, match="differ in the type of a column"):
        SparkTable.load(described(address, tmp_path, tmp_path / "*.parquet"), domain, Unit.row(), Fixed())
    damaged(tmp_path / "a.parquet")
    with pytest.raises(BadFile, match="is damaged; write it again") as problem:
        SparkTable.load(described(address, tmp_path, tmp_path / "a.parquet"), domain, Unit.row(), Fixed())
    assert problem.value.__context__ is None
    assert "Geheimstadt" not in log.read_text()


def test_encoded_columns_are_for_their_owner_alone(folder: Path, people: Path, tmp_path: Path) -> None:
    for unit in (UNITS["rows"], UNITS["texts"]):
        SparkTable.load(described(LOCAL, tmp_path, people), DOMAIN, unit, Fixed())
    written = list((tmp_path / "encoded").rglob("*"))
    assert any(place.suffix == ".parquet" for place in written)
    assert not [place for place in written if place.stat().st_mode & 0o077]


def test_pages_of_spark_quote_no_value(folder: Path, people: Path, tmp_path: Path) -> None:
    """Spark shows to whoever may look at its pages what it was asked: names of columns, places of files."""
    opened = spark_session.session(LOCAL)
    store = opened._jsparkSession.sharedState().statusStore()
    before = store.executionsCount()
    found = SparkTable.load(described(LOCAL, tmp_path, people), DOMAIN, UNITS["texts"], Fixed())
    found.prepare(PAIRS)
    found.combinations(DOMAIN.names)
    ran = store.executionsList(before, 100)
    told = [ran.apply(number) for number in range(ran.size())]
    shown = "\n".join(f"{each.description()} {each.details()} {each.physicalPlanDescription()}" for each in told)
    assert "MapInArrow" in shown and "town" in shown
    values = {str(value) for column in rows().select(["person", "town", "price", "born"]).columns for value in column}
    assert not [value for value in values if len(value) > 3 and value in shown]


def test_a_desk_works_on_a_table_on_spark(
    folder: Path, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[int] = []
    counted = SparkTable._count
    monkeypatch.setattr(SparkTable, "_count", lambda self, tables: (jobs.append(len(tables)), counted(self, tables))[1])
    source, total = described(LOCAL, folder, people), Budget(epsilon=3, delta=1e-9)
    desk = Desk(tmp_path / "desk", journal=tmp_path / "journal")
    held = desk.add_table(source, DOMAIN, unit=Unit.row(), budget=total)
    assert (held.name, held.notes["rows"]) == ("people", rows().num_rows)
    plan = desk.plan(held, [Marginals(order=2)], mechanism="tree", budget=Budget(epsilon=1, delta=1e-9))
    made = desk.release(plan)
    assert list(made.records().columns) == [name for name in held.notes["layout"] if name in DOMAIN.names]
    assert len(jobs) <= 3, "a round of the tree is one job"
    with pytest.raises(Refused, match="stay on the cluster"):
        desk.attack(plan.id, "ill")
    with pytest.raises(Refused, match="declare them"):
        desk.discover(source, {"age": "number"}, unit=Unit.row(), total=total, part=Budget(epsilon=0.1, delta=0))
    desk.close()
    again = Desk(tmp_path / "desk", journal=tmp_path / "journal")
    assert again.add_table(source, DOMAIN, unit=Unit.row(), budget=total).id == held.id
    assert again.statement(held).spent_share > 0
    assert again.release(plan).zip() == made.zip()
    part = Budget(epsilon=0.5, delta=1e-9)
    session = again.ask(held, mechanism="online-weights", budget=part, columns=("town", "ill"))
    answer = session.answer(question("town = 'Aa'", held.domain))
    assert answer.low <= answer.share <= answer.high
    again.close()


def test_the_same_rows_in_another_format_spend_from_one_budget(folder: Path, tmp_path: Path) -> None:
    """At the desk as text, on the cluster as numbers, and there as text again."""
    draw, total = np.random.default_rng(8), Budget(epsilon=3, delta=1e-9)
    kinds = [Integers(name="age", low=0, high=99), Categories(name="town", values=("Aa", "Bb")), Booleans(name="ill")]
    domain = Domain(tuple(kinds))

    def drawn() -> pa.Table:
        towns = pa.array(["Aa", "Bb"]).take(pa.array(draw.integers(0, 2, 2000)))
        return pa.table({"age": draw.integers(0, 100, 2000), "town": towns, "ill": draw.random(2000) < 0.2})

    def on_cluster(table: pa.Table, name: str) -> SparkSource:
        (tmp_path / name).mkdir()
        parquet.write_table(table, tmp_path / name / "x.parquet")
        return described(LOCAL, folder, tmp_path / name)

    people = drawn()
    texts = people.cast(pa.schema([(name, pa.string()) for name in people.column_names]))
    people.to_pandas().to_csv(tmp_path / "people.csv", index=False)
    desk = Desk(tmp_path / "desk", journal=tmp_path / "journal")
    sources = [tmp_path / "people.csv", on_cluster(people, "numbers"), on_cluster(texts, "texts")]
    held = [desk.add_table(each, domain, unit=Unit.row(), budget=total) for each in sources]
    desk.release(desk.plan(held[2], [Marginals(order=1)], mechanism="laplace", budget=Budget(epsilon=1, delta=0)))
    other = desk.add_table(on_cluster(drawn(), "others"), domain, unit=Unit.row(), budget=total)
    assert [desk.same_account(held[0], each) for each in [*held, other]] == [True, True, True, False]
    assert [desk.statement(each).spent_share > 0 for each in [*held, other]] == [True, True, True, False]
    desk.close()


def test_neighbours_on_spark_are_told_apart_no_better(folder: Path) -> None:
    unit = Unit.id("person", 3)

    def written(people: list, place: Path) -> SparkSource:
        return described(LOCAL, folder, FORMATS["parquet"](people, place))

    pair = Pair(NEIGHBOURS, *neighbours(unit, "last"), written, "last")
    step = release("gaussian", [Marginals(order=1)], {})
    assert replayed_on(pair, [step], unit, Budget(epsilon=1, delta=1e-9)) == 1
