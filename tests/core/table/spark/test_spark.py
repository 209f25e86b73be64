"""What executors do, without a cluster: the codes, the rows of an id and the counts are those of the embedded table."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core.base.errors import BadFile, BadParameter, Refused
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.contribution_limit import BLOCK, RowKeys
from core.table.spark import added_vectors, failures, spark_session
from core.table.spark.block_counts import BlockCombinations, BlockCounts, BlockFacts
from core.table.spark.cluster_rows import quoted
from core.table.spark.count_store import CountStore
from core.table.spark.encoded_blocks import BlockLayout
from core.table.spark.limited_rows import LimitedRows
from core.table.spark.row_bundles import OwnedRows, bundled, joined, unbundled
from core.table.spark.row_encoding import RowEncoding
from core.table.spark.spark_source import SparkSource
from core.table.spark.spark_table import SparkTable
from core.table.table import Table
from tests.core.table.people import people, schema

LIMIT = 2
SOURCE = SparkSource(address="local[2]", folder="/encoded", path="/people")


class Fixed:
    """The same secret each time."""

    def keys(self, count: int) -> np.ndarray:
        return np.arange(7, 7 + count, dtype=np.uint64)


def fed(frame: pd.DataFrame, size: int, *, file: int | None = None) -> Iterator[pa.RecordBatch]:
    """Rows as Spark hands them over: in batches, with file and place where they are asked for."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.rename_columns([f"c{place}" for place in range(table.num_columns)])
    if file is not None:
        table = table.append_column("file", pa.array(np.full(len(frame), file)))
        table = table.append_column("place", pa.array(np.arange(len(frame))))
    yield from table.to_batches(max_chunksize=size)


def blocks_of(frame: pd.DataFrame, unit: Unit, domain: Domain) -> list[pa.RecordBatch]:
    """Encoded blocks of two files that are read in another order than they lie in."""
    names = [*domain.names, *([] if unit.column is None else [unit.column])]
    encoding = RowEncoding(domain.to_json(), tuple(names))
    halves = [frame[names].iloc[:900], frame[names].iloc[900:]]
    if unit.column is None:
        return [block for half in reversed(halves) for block in encoding.blocks(fed(half, 300))]
    limited = LimitedRows(
        encoding=encoding,
        column=unit.column,
        limit=unit.limit,
        keys=RowKeys.of(Fixed().keys(4)),
        starts={5: 0, 3: 900},
    )

    def sent() -> list[pa.RecordBatch]:
        parts = zip(halves, (5, 3), strict=True)
        return [batch for half, file in parts for batch in limited.rows(fed(half, 300, file=file))]

    rows = sent()
    assert rows == sent(), "a task that is run again keeps the same rows"
    return list(limited.blocks(iter(reversed(rows))))


def added_up(tasks: Iterable[Iterable[pa.RecordBatch]]) -> np.ndarray:
    """What tasks gave, as it is added up by other tasks, of which each has the slices of some numbers."""
    given = [batch for task in tasks for batch in task]
    sent: list[tuple[int, bytes]] = []
    for kept in (0, 1):
        some = [
            batch.filter(pa.array([number % 2 == kept for number in batch["slice"].to_pylist()])) for batch in given
        ]
        for batch in added_vectors.sums(iter(some)):
            sent += zip(batch["slice"].to_pylist(), batch["counts"].to_pylist(), strict=True)
    assert len({number for number, _ in sent}) == len(sent), "each slice once"
    found = added_vectors.joined(reversed(sent))
    assert found is not None
    return found


def test_slices_of_all_tasks_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(added_vectors, "SLICE", 7)
    vectors = np.random.default_rng(4).integers(0, 2**50, (5, 30))
    assert np.array_equal(added_up([added_vectors.sliced(each)] for each in vectors), vectors.sum(axis=0))
    assert added_vectors.joined([]) is None


@pytest.mark.parametrize("unit", [Unit.row(), Unit.id("id", LIMIT)], ids=["rows", "ids"])
def test_executors_encode_and_count_as_the_embedded_table(unit: Unit) -> None:
    frame, domain = people(), schema()
    table = Table.load(frame, domain, unit, Fixed())
    blocks = blocks_of(frame, unit, domain)
    kept, read, *misfits = added_up([BlockFacts(len(domain)).vectors(iter(blocks))]).tolist()
    assert (kept, read) == (table.rows, len(frame))
    assert misfits == list(table.misfits.values())
    pairs = tuple(itertools.combinations(domain.names, 2))
    asked = BlockCounts(BlockLayout.of(domain), pairs, tuple(domain.shape(pair) for pair in pairs))
    found = asked.split(added_up(asked.vectors(iter(part)) for part in (blocks[:1], blocks[1:], [])))
    assert all(np.array_equal(found[pair], table.marginal(pair)) for pair in pairs)
    combined = BlockCombinations(BlockLayout.of(domain), domain.names, domain.shape())
    [batch] = combined.found(iter(blocks))
    codes, often = combined.joined(batch["combination"].to_pylist(), batch["often"].to_numpy())
    wanted = table.combinations(domain.names)
    assert np.array_equal(codes, wanted[0]) and np.array_equal(often, wanted[1])


@pytest.mark.parametrize("text", [False, True], ids=["numbers", "texts"])
def test_all_rows_of_an_id_travel_to_one_task(text: bool) -> None:
    draw = np.random.default_rng(5)

    def rows(ids: np.ndarray) -> OwnedRows:
        owners = pa.array([f"nº {each}" for each in ids.tolist()], pa.string()) if text else pa.array(ids)
        keys, codes = draw.integers(0, 2**63, len(ids)).astype(np.uint64), draw.integers(0, 9, (len(ids), 3))
        return OwnedRows(owners, keys, codes.astype(np.uint8), len(ids) + 1, np.array([1, 2]))

    sent = [rows(draw.integers(-50, 50, 400)), rows(np.empty(0, dtype=np.int64)), rows(np.arange(-9, 30))]
    batches = [bundled(each) for each in sent]
    found, wanted = unbundled(batches, 3, 2), joined(sent)
    assert (found.read, found.misfits.tolist()) == (wanted.read, [3, 6])

    def lines(held: OwnedRows) -> list:
        return sorted(zip(held.owners.to_pylist(), held.keys.tolist(), held.codes.tolist(), strict=True))

    assert lines(found) == lines(wanted)
    parts: dict[object, set[int]] = {}
    for line in (batch.slice(place, 1) for batch in batches for place in range(batch.num_rows)):
        for owner in unbundled([line], 3, 2).owners.to_pylist():
            parts.setdefault(owner, set()).add(line["part"][0].as_py())
    assert all(len(each) == 1 for each in parts.values())
    assert len(set.union(*parts.values())) > 50, "spread over tasks"


def test_keys_follow_from_the_secret_and_the_place_alone() -> None:
    keys = RowKeys.of(Fixed().keys(4))
    places = np.arange(3 * BLOCK)
    whole = keys.at(places)
    order = np.random.default_rng(1).permutation(len(places))
    assert np.array_equal(keys.at(places[order]), whole[order])
    assert len(np.unique(whole)) == len(whole)
    assert not np.intersect1d(whole, RowKeys.of(Fixed().keys(4)[::-1]).at(places)).size
    assert abs(whole.mean() / 2.0**64 - 0.5) < 0.02
    assert "secret" not in repr(keys)


def test_an_error_of_an_executor_quotes_no_value() -> None:
    def breaks() -> Iterator[pa.RecordBatch]:
        raise ValueError("cannot read Secret Name")
        yield

    with pytest.raises(failures.OnExecutor) as problem:
        list(failures.told_plainly(breaks()))
    assert "Secret" not in str(problem.value) and problem.value.__context__ is None
    assert failures.sentence_of(f"Job aborted: {problem.value}\n\tat org.apache").startswith("The table cannot be read")


def test_what_spark_raises_becomes_one_sentence() -> None:
    @failures.from_cluster
    def fails() -> None:
        raise RuntimeError("[PATH_NOT_FOUND] Path does not exist: /people/Secret Name")

    with pytest.raises(BadFile, match="no Parquet files") as problem:
        fails()
    assert problem.value.__context__ is None
    assert failures.sentence_of("something else") == "Spark stopped before it was done; the cluster's own log says why."


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("[FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH] Expected int, actual BINARY", "differ in the type"),
        ("[FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER] Could not read footer.", "no Parquet file, or is damaged"),
        ("[FAILED_READ_FILE.NO_HINT] Encountered error while reading file", "is damaged; write it again"),
        ("java.lang.ArrayIndexOutOfBoundsException\n\nDriver stacktrace:", "is damaged; write it again"),
        ("\tat org.apache.parquet.column.values.rle.Decoder.read(Decoder.java:1)", "is damaged; write it again"),
        ("org.apache.parquet.hadoop.Writer: No space left on device", "disks of the cluster are full"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_apart(told: str, said: str) -> None:
    sentence = failures.sentence_of(f"Job aborted due to stage failure: {told}")
    assert said in sentence and sentence.count(". ") == 0


def test_large_floats_are_no_ids_on_executors_either() -> None:
    frame = people(50).assign(id=lambda rows: rows["id"] + 2.0**60)
    with pytest.raises(failures.OnExecutor, match="holds numbers too large for floats"):
        blocks_of(frame, Unit.id("id", LIMIT), schema())


@pytest.mark.parametrize(
    ("changed", "parameter"),
    [
        ({"address": "ftp://x"}, "address"),
        ({"folder": " "}, "folder"),
        ({"path": None}, "path"),
        ({"table": "people"}, "path"),
        ({"path": " "}, "path"),
        ({"path": None, "table": "a; DROP"}, "table"),
    ],
)
def test_a_source_is_checked_when_it_is_described(changed: dict, parameter: str) -> None:
    with pytest.raises(BadParameter) as problem:
        SparkSource(**{**SOURCE.to_json(), **changed})
    assert problem.value.parameter == parameter


def test_a_source_is_written_and_read_back() -> None:
    assert SparkSource.from_json(json.loads(json.dumps(SOURCE.to_json()))) == SOURCE
    assert SOURCE.name == "people"
    assert SparkSource(address="sc://h:15002", folder="f", table="office.`the people`").name == "the people"
    assert SparkSource(address="local[*]", folder="f", path="/rows/2024-*.parquet").name == "2024-"


def test_names_are_quoted() -> None:
    assert quoted("a`b.c") == "`a``b.c`"


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"pyspark": True, "grpc": False}
    monkeypatch.setattr(spark_session.importlib.util, "find_spec", lambda name: there.get(name) or None)
    assert "grpcio" in str(spark_session.lacking("sc://host:15002"))
    monkeypatch.setattr(spark_session.shutil, "which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert "Java" in str(spark_session.lacking("local[2]"))
    there["pyspark"] = False
    with pytest.raises(Refused, match="PySpark is not installed"):
        spark_session.session("local[2]")


def test_a_cluster_that_is_not_there_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_session, "lacking", lambda address: None)
    for address in ("sc://127.0.0.1:1", "spark://127.0.0.1:1"):
        with pytest.raises(Refused, match="cannot be reached"):
            spark_session.session(address)


def test_known_tables_are_summed_and_turned() -> None:
    store = CountStore()
    table = np.arange(24).reshape(2, 3, 4)
    store.keep([(("a", "b", "c"), table)])
    assert np.array_equal(store.find(("c", "a")), table.sum(axis=1).T)
    assert store.lacks(("d",)) and store.find(("d",)) is None
    assert not store.lacks(("b",))


def test_a_damaged_note_of_a_table_is_refused(tmp_path) -> None:
    (tmp_path / "table.json").write_text('{"spark": {}}')
    with pytest.raises(BadFile, match="damaged"):
        SparkTable.open(tmp_path)
