# SPDX-License-Identifier: Apache-2.0
"""Timestamps in the forms that Parquet files have had over the years: the same instant in every time zone."""
import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from raw_table import RawTable, field, struct
from standalone import Warehouse

INSTANT = datetime.datetime(2024, 7, 1, 12, 34, 56, 123000, tzinfo=datetime.timezone.utc)
READ = "2024-07-01T12:34:56.123000Z"
ZONES = ["UTC", "America/Sao_Paulo", "Asia/Kolkata"]
FORMS = {
    "micros": {"coerce_timestamps": "us"},
    "millis": {"coerce_timestamps": "ms"},
    "nanos": {"version": "2.6"},
    "int96": {"use_deprecated_int96_timestamps": True},
}


@pytest.fixture(name="warehouse")
def fixture_warehouse(tidegate):
    return Warehouse(tidegate)


def add(table, data, **form):
    name = table.add(data)
    pq.write_table(data, table.folder / name, **form)


def instants(unit="us", zone="UTC"):
    return pa.array([INSTANT.replace(tzinfo=None) if zone is None else INSTANT], pa.timestamp(unit, zone))


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_instant(tidegate, warehouse, form, zone):
    table = RawTable(tidegate.folder / "raw").create(field("k", "long"), field("t", "timestamp"))
    add(table, pa.table({"k": [1], "t": instants("ns" if form == "nanos" else "us")}), **FORMS[form])
    add(table, pa.table({"k": [2]}))  # from before the column was added
    options = ("--timezone", zone)
    assert warehouse.rows("SELECT k, t FROM delta.`raw`", options) == [[1, READ], [2, None]]
    assert warehouse.rows(f"SELECT k FROM delta.`raw` WHERE t = TIMESTAMP'{READ}'", options) == [[1]]


@pytest.mark.parametrize("zone", ZONES)
def test_a_file_that_does_not_say_utc_means_it(tidegate, warehouse, zone):
    table = RawTable(tidegate.folder / "raw").create(field("t", "timestamp"))
    add(table, pa.table({"t": instants(zone=None)}))
    assert warehouse.rows("SELECT t FROM delta.`raw`", ("--timezone", zone)) == [[READ]]


@pytest.mark.parametrize("zone", ZONES)
def test_local_times_beside_instants_stay_local(tidegate, warehouse, zone):
    table = RawTable(tidegate.folder / "raw").create(field("t", "timestamp"), field("n", "timestamp_ntz"), features=["timestampNtz"])
    add(table, pa.table({"t": instants(), "n": instants(zone=None)}))
    assert warehouse.rows("SELECT * FROM delta.`raw`", ("--timezone", zone)) == [[READ, READ[:-1]]]


def test_files_of_both_kinds_are_refused_but_in_utc(tidegate, warehouse):
    table = RawTable(tidegate.folder / "raw").create(field("k", "long"), field("t", "timestamp"))
    add(table, pa.table({"k": [1], "t": instants()}), **FORMS["int96"])
    add(table, pa.table({"k": [2], "t": instants()}), **FORMS["micros"])
    assert warehouse.rows("SELECT t FROM delta.`raw`", ("--timezone", "UTC")) == [[READ], [READ]]
    warehouse.fails("SELECT t FROM delta.`raw`", "UNSUPPORTED_FEATURE", "INT96", "UTC", options=("--timezone", "Asia/Kolkata"))


@pytest.mark.parametrize("form, refused", [("int96", True), ("micros", False)])
def test_instants_inside_columns(tidegate, warehouse, form, refused):
    table = RawTable(tidegate.folder / "raw").create(field("k", "long"), field("s", struct(field("t", "timestamp"))),
                                                     field("l", {"type": "array", "elementType": "timestamp", "containsNull": True}))
    data = pa.table({"k": [1], "s": pa.array([{"t": INSTANT}], pa.struct([("t", pa.timestamp("us", "UTC"))])),
                     "l": pa.array([[INSTANT]], pa.list_(pa.timestamp("us", "UTC")))})
    add(table, data, **FORMS[form])
    assert warehouse.rows("SELECT * FROM delta.`raw`", ("--timezone", "UTC")) == [[1, {"t": READ}, [READ]]]
    for column in ("s", "l"):
        query, options = f"SELECT {column} FROM delta.`raw`", ("--timezone", "Asia/Kolkata")
        if refused:
            warehouse.fails(query, "UNSUPPORTED_FEATURE", "inside nested columns", options=options)
        else:
            assert READ in str(warehouse.rows(query, options))
