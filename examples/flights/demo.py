# SPDX-License-Identifier: Apache-2.0
"""The flights example, step by step: first load, nothing changed, late and corrected rows, a new day.

tidegate loads the sources (CSV of nycflights13) into Delta and runs the pipeline; after each step Polars, not tidegate, reads the
tables and checks every row against what it must be. Ends with status 1 when a row is wrong.
"""
import collections
import datetime as dt
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import polars as pl

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TIDEGATE = os.environ.get("TIDEGATE_BIN", str(ROOT / "build/release/tidegate"))
CSV = pathlib.Path(os.environ.get("TIDEGATE_DEPS", str(ROOT / ".deps"))) / "nycflights13"
KEPT_DAYS = 7


def say(text):
    print(text, flush=True)


class Demo:
    def __init__(self, folder):
        self.folder = folder
        self.expected = {}
        for name in ("spark-pipeline.yml", "transformations"):
            source = HERE / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)

    # ---- tidegate ----

    def sql(self, text):
        done = subprocess.run([TIDEGATE, "sql", "--timezone", "America/New_York", "-f", "-"], input=text, text=True, cwd=self.folder,
                              capture_output=True)
        if done.returncode != 0:
            sys.exit(done.stderr)

    def run(self, now):
        done = subprocess.run([TIDEGATE, "run", "--json", "--now", now], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr + done.stdout[-2000:])
        return json.loads(done.stdout.splitlines()[-1])

    # ---- Polars: what the tables must hold ----

    def table(self, name):
        return pl.read_delta(str(self.folder / "warehouse/main/default" / name))

    def update_expected(self, today):
        flights, carriers, airports, planes, weather = (
            self.table(n) for n in ("flights", "airlines", "airports", "planes", "weather"))
        start = today - dt.timedelta(days=KEPT_DAYS)
        recent = flights.filter(pl.col("flight_date") >= start)
        enriched = (
            recent.join(carriers.rename({"name": "airline"}), on="carrier")
            .join(airports.select("faa", pl.col("name").alias("dest_airport")), left_on="dest", right_on="faa", how="left")
            .join(planes.select("tailnum", "manufacturer", pl.col("year").alias("plane_year")), on="tailnum", how="left")
            .join(weather.select("origin", "time_hour", "wind_speed", "visib"), on=["origin", "time_hour"], how="left")
            .select("flight_date", "carrier", "airline", "flight", "origin", "dest", "dest_airport", "tailnum", "manufacturer",
                    "plane_year", "sched_dep_time", "dep_time", "dep_delay", "wind_speed", "visib"))
        daily = (recent.filter(pl.col("dep_time").is_not_null()).group_by("flight_date", "origin")
                 .agg(pl.len().cast(pl.Int64).alias("departed"), pl.col("dep_delay").sum().cast(pl.Int64).alias("dep_delay_minutes"),
                      pl.col("dep_delay").max().alias("worst_delay")))
        source = self.table("weather_recent").filter(pl.col("weather_date") >= today - dt.timedelta(days=2))
        history = (source.group_by("weather_date", "origin")
                   .agg(pl.len().cast(pl.Int64).alias("hours"), pl.col("temp").min().alias("temp_min"), pl.col("temp").max().alias("temp_max")))
        self.replace("flights_enriched", "flight_date", start, enriched)
        self.replace("daily_delays", "flight_date", start, daily)
        self.replace("weather_history", "weather_date", today - dt.timedelta(days=2), history)

    def replace(self, name, column, start, rows):
        old = self.expected.get(name)
        kept = [] if old is None else [old.filter(pl.col(column) < start)]
        self.expected[name] = pl.concat(kept + [rows], how="vertical_relaxed")

    def check(self, name):
        # Bags of rows: count equal rows on both sides.
        expected = self.expected[name]
        want = collections.Counter(expected.rows())
        have = collections.Counter(self.table(name).select(expected.columns).rows())
        if have != want:
            missing = {r: n for r, n in want.items() if have[r] != n}
            extra = {r: n for r, n in have.items() if want[r] != n}
            sys.exit(f"{name} is wrong: {len(missing)} rows missing or miscounted, {len(extra)} that should not be there, "
                     f"for example {list(missing)[:2]} and {list(extra)[:2]}")
        return sum(have.values())

    def step(self, title, today, changed=True):
        say(f"\n== {title} (clock {today} 12:00 in New York)")
        if changed:
            self.update_expected(today)
        summary = self.run(f"{today}T12:00:00-05:00")
        say(f"   {'table':18} {'technique':24} {'rows':>8} {'written':>8} {'version':>8} {'ms':>6}")
        for flow in summary["flows"]:
            name = flow["dataset_name"].split(".")[-1]
            version = "-" if flow["committed_version"] is None else flow["committed_version"]
            rows = self.check(name)
            say(f"   {name:18} {flow['technique']:24} {rows:>8} {flow['num_rows_physically_written'] or 0:>8} {version:>8} {flow['duration_ms']:>6}")
            if not changed and flow["technique"] != "NO_OP":
                sys.exit(f"{name}: nothing changed, but the technique is {flow['technique']}")
        say(f"   all rows checked by Polars; update took {summary['duration_ms']} ms")


FLIGHT_COLUMNS = """make_date(year, month, day) AS flight_date, carrier, flight, tailnum, origin, dest, sched_dep_time,
  CASE WHEN {flown} THEN dep_time END AS dep_time, CASE WHEN {flown} THEN dep_delay END AS dep_delay, time_hour"""


def flights_select(where, flown="true"):
    return f"SELECT {FLIGHT_COLUMNS.format(flown=flown)} FROM csv_flights WHERE {where}"


def main():
    if not (CSV / "flights.csv").exists():
        sys.exit("the flight data is missing: run ./dev setup")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        demo = Demo(folder)

        spec = (folder / "spark-pipeline.yml").read_text()
        tables = "  tables:\n" + "".join(
            f"    csv_{t}: {{ path: {json.dumps(str(CSV / (t + '.csv')))}, format: csv, options: {{ header: \"true\", inferSchema: \"true\", nullValue: NA }} }}\n"
            for t in ("flights", "airlines", "airports", "planes", "weather"))
        (folder / "spark-pipeline.yml").write_text(spec + tables)

        day = "make_date(year, month, day)"
        say("loading airlines, airports, planes, weather and the flights up to 2013-03-10 into Delta ...")
        demo.sql(f"""
CREATE TABLE airlines AS SELECT * FROM csv_airlines;
CREATE TABLE airports AS SELECT * FROM csv_airports;
CREATE TABLE planes AS SELECT * FROM csv_planes;
CREATE TABLE weather AS SELECT origin, time_hour, wind_speed, visib, temp FROM csv_weather;
CREATE TABLE flights AS {flights_select(f"{day} <= DATE'2013-03-10'", f"{day} <= DATE'2013-03-09'")};
CREATE TABLE weather_recent AS SELECT make_date(year, month, day) AS weather_date, origin, temp FROM csv_weather
  WHERE {day} BETWEEN DATE'2013-03-08' AND DATE'2013-03-10';
""")
        demo.step("first load: the window of seven days", dt.date(2013, 3, 10))
        demo.step("nothing changed", dt.date(2013, 3, 10), changed=False)

        say("\nflights of 03-10 have departed (actual times arrive), and one of 03-07 is corrected ...")
        demo.sql(f"""
DELETE FROM flights WHERE flight_date = DATE'2013-03-10';
INSERT INTO flights {flights_select(f"{day} = DATE'2013-03-10'")};
DELETE FROM flights WHERE flight_date = DATE'2013-03-07' AND carrier = 'UA' AND dep_delay > 60;
""")
        demo.step("late and corrected rows", dt.date(2013, 3, 10))

        say("\n03-11 is announced; the weather source drops 03-08 ...")
        demo.sql(f"""
INSERT INTO flights {flights_select(f"{day} = DATE'2013-03-11'", "false")};
DELETE FROM weather_recent WHERE weather_date = DATE'2013-03-08';
INSERT INTO weather_recent SELECT make_date(year, month, day) AS weather_date, origin, temp FROM csv_weather WHERE {day} = DATE'2013-03-11';
""")
        demo.step("a new day: history leaves the window and stays", dt.date(2013, 3, 11))
        oldest = demo.table("weather_history")["weather_date"].min()
        say(f"\nweather_history still holds {oldest}, which its source has dropped. The demo is through: every row was right.")


if __name__ == "__main__":
    main()
