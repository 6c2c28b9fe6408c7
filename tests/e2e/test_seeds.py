# SPDX-License-Identifier: Apache-2.0
"""The SQL statements of the vendor's pages on REPLACE WHERE flows, letter by letter, on small tables."""
import datetime

import pytest

from standalone import Warehouse

TODAY = datetime.date(2026, 3, 15)
ENRICHED = """\
SELECT
  o.order_id,
  o.date,
  o.region,
  p.product_name,
  o.qty,
  o.price
FROM orders_fct o
JOIN product_dim p
  ON o.product_id = p.product_id;"""
SHORT = f"""\
CREATE OR REFRESH STREAMING TABLE orders_enriched
SCHEDULE EVERY 1 DAY
FLOW REPLACE WHERE date >= date_add(current_date(), -7) BY NAME
{ENRICHED}"""
PIPELINE_SHORT = f"""\
CREATE STREAMING TABLE orders_enriched
FLOW REPLACE WHERE date >= date_add(current_date(), -7) BY NAME
{ENRICHED}"""
LONG = f"""\
CREATE STREAMING TABLE orders_enriched;

CREATE FLOW orders_enriched AS
INSERT INTO orders_enriched BY NAME
REPLACE WHERE date >= date_add(current_date(), -7)
{ENRICHED}"""
GUARDED = f"""\
CREATE OR REFRESH STREAMING TABLE orders_enriched
  TBLPROPERTIES (pipelines.reset.allowed = 'false')
  FLOW REPLACE WHERE date >= date_add(current_date(), -7) BY NAME
{ENRICHED}"""
OVERRIDE = "REFRESH STREAMING TABLE orders_enriched WHERE date BETWEEN '2020-01-01' AND '2024-12-31';"
OVERRIDE_ASYNC = "REFRESH STREAMING TABLE orders_enriched WHERE date >= date_add(current_date(), -30) ASYNC;"
DML = """\
INSERT INTO orders_enriched
SELECT *
FROM orders_enriched_legacy
WHERE date < '2025-01-01';"""
# The pages name a flow's clauses alone in these two; the table is what the page is about.
GROUPED = """\
CREATE OR REFRESH STREAMING TABLE grouped
FLOW REPLACE WHERE date >= date_add(current_date(), -7) BY NAME
SELECT date, region, SUM(amount) AS total
FROM sales
GROUP BY date, region;"""
JOINED = """\
CREATE OR REFRESH STREAMING TABLE joined
FLOW REPLACE WHERE date >= date_add(current_date(), -7) BY NAME
SELECT f.date, f.user_id, d.region, f.revenue
FROM fact f
JOIN dim d ON f.date = d.date AND f.user_id = d.user_id;"""
EVENTS = """\
CREATE{} STREAMING TABLE events_agg
FLOW REPLACE WHERE date >= date_add(current_date(), -3) BY NAME
SELECT
  date,
  key,
  SUM(val) AS agg
FROM events_raw
GROUP BY ALL;"""
FACTS = """\
CREATE{} STREAMING TABLE fact_dim_join
FLOW REPLACE WHERE {}date >= date_add(current_date(), -1) BY NAME
SELECT
  f.date,
  f.user_id,
  d.region,
  f.revenue
FROM fact_table f
JOIN dim_users d
  ON f.user_id = d.user_id;"""
CLICKS = """\
CREATE{} STREAMING TABLE clickstream_daily
FLOW REPLACE WHERE event_date >= date_add(current_date(), -7) BY NAME
SELECT
  event_date,
  page_id,
  COUNT(*) AS clicks
FROM clickstream_raw
GROUP BY ALL;"""
CLICKS_AND_USERS = CLICKS.replace("AS clicks", "AS clicks,\n  COUNT(DISTINCT user_id) AS uniq_users")
REVENUE = """\
CREATE{} STREAMING TABLE revenue_attribution
FLOW REPLACE WHERE event_date >= date_add(current_date(), -7) BY NAME
SELECT
  event_date,
  campaign_id,
  SUM(revenue) AS total_revenue
FROM marketing_events
GROUP BY ALL;"""
REVENUE_DML = """\
INSERT INTO revenue_attribution
SELECT
  event_date,
  campaign_id,
  SUM(revenue) AS total_revenue
FROM marketing_events
WHERE event_date < date_add(current_date(), -7)
GROUP BY ALL;"""
OR_REFRESH = " OR REFRESH"
FIXTURES = """
CREATE TABLE orders_fct (order_id INT, product_id INT, date DATE, region STRING, qty INT, price DECIMAL(9,2));
CREATE TABLE product_dim (product_id INT, product_name STRING);
CREATE TABLE orders_enriched_legacy (order_id INT, date DATE, region STRING, product_name STRING, qty INT, price DECIMAL(9,2));
INSERT INTO orders_fct VALUES (1, 1, DATE'2026-03-14', 'eu', 1, 2.00), (2, 2, DATE'2026-03-01', 'us', 2, 3.00),
  (3, 1, DATE'2024-05-01', 'asia', 3, 4.00);
INSERT INTO product_dim VALUES (1, 'pen'), (2, 'cup');
INSERT INTO orders_enriched_legacy VALUES (9, DATE'2019-01-01', 'eu', 'ink', 1, 1.00), (8, DATE'2025-01-01', 'eu', 'ink', 1, 1.00);
CREATE TABLE sales (date DATE, region STRING, amount INT);
INSERT INTO sales VALUES (DATE'2026-03-14', 'eu', 1), (DATE'2026-03-14', 'eu', 2), (DATE'2026-01-01', 'eu', 4);
CREATE TABLE fact (date DATE, user_id INT, revenue INT);
CREATE TABLE dim (date DATE, user_id INT, region STRING);
INSERT INTO fact VALUES (DATE'2026-03-14', 1, 10), (DATE'2026-01-01', 1, 20);
INSERT INTO dim VALUES (DATE'2026-03-14', 1, 'eu'), (DATE'2026-01-01', 1, 'us');
CREATE TABLE events_raw (date DATE, key STRING, val INT);
INSERT INTO events_raw VALUES (DATE'2026-03-14', 'a', 1), (DATE'2026-03-14', 'a', 2), (DATE'2026-03-01', 'a', 4);
CREATE TABLE fact_table (date DATE, user_id INT, revenue INT);
CREATE TABLE dim_users (user_id INT, region STRING);
INSERT INTO fact_table VALUES (DATE'2026-03-14', 1, 10), (DATE'2026-03-12', 1, 20);
INSERT INTO dim_users VALUES (1, 'eu');
CREATE TABLE clickstream_raw (event_date DATE, page_id INT, user_id INT);
INSERT INTO clickstream_raw VALUES (DATE'2026-03-14', 1, 1), (DATE'2026-03-14', 1, 1), (DATE'2026-03-06', 1, 1);
CREATE TABLE marketing_events (event_date DATE, campaign_id INT, revenue INT);
INSERT INTO marketing_events VALUES (DATE'2026-03-14', 1, 5), (DATE'2026-03-14', 1, 6), (DATE'2020-01-01', 2, 7);
"""


@pytest.fixture
def warehouse(tidegate):
    made = Warehouse(tidegate, now=str(TODAY))
    made.run(FIXTURES)
    return made


def days(warehouse, name, column=0):
    return sorted(str(row[column]) for row in warehouse.foreign(name))


@pytest.mark.parametrize("statement", [SHORT, LONG, PIPELINE_SHORT, GUARDED])
def test_orders_enriched(warehouse, statement):
    warehouse.run(statement)
    assert days(warehouse, "orders_enriched", 1) == ["2026-03-14"]
    warehouse.run(OVERRIDE)
    assert days(warehouse, "orders_enriched", 1) == ["2024-05-01", "2026-03-14"]
    warehouse.run(DML)
    assert days(warehouse, "orders_enriched", 1) == ["2019-01-01", "2024-05-01", "2026-03-14"]
    (update_id,), = warehouse.rows(OVERRIDE_ASYNC)
    for _ in range(600):
        if warehouse.described("orders_enriched").get("Latest Update Id") == update_id and \
                warehouse.described("orders_enriched")["Last Refresh Status"] == "COMPLETED":
            break
    assert days(warehouse, "orders_enriched", 1) == ["2019-01-01", "2024-05-01", "2026-03-01", "2026-03-14"]
    assert "NO_OP" in warehouse.says("REFRESH STREAMING TABLE orders_enriched")


def test_the_predicate_column_in_group_by_and_join_keys(warehouse):
    warehouse.run(GROUPED, JOINED)
    assert warehouse.foreign("grouped") == [[datetime.date(2026, 3, 14), "eu", 3]]
    assert warehouse.foreign("joined") == [[datetime.date(2026, 3, 14), 1, "eu", 10]]


@pytest.mark.parametrize("words", ["", OR_REFRESH])
def test_keep_aggregates_longer_than_their_source(warehouse, words):
    warehouse.run(EVENTS.format(words))
    warehouse.now = "2026-03-20"
    warehouse.run("DELETE FROM events_raw WHERE date < date_add(current_date(), -3)",
                  "INSERT INTO events_raw VALUES (DATE'2026-03-19', 'b', 8)", "REFRESH STREAMING TABLE events_agg")
    assert warehouse.foreign("events_agg") == [[datetime.date(2026, 3, 14), "a", 3], [datetime.date(2026, 3, 19), "b", 8]]


@pytest.mark.parametrize(("words", "alias"), [("", "f."), (OR_REFRESH, "")])
def test_a_changed_dimension_changes_recent_rows_only(warehouse, words, alias):
    warehouse.now = "2026-03-13"
    warehouse.run(FACTS.format(words, alias))
    warehouse.now = str(TODAY)
    warehouse.run("DELETE FROM dim_users", "INSERT INTO dim_users VALUES (1, 'us')", "REFRESH STREAMING TABLE fact_dim_join")
    assert warehouse.foreign("fact_dim_join") == [
        [datetime.date(2026, 3, 12), 1, "eu", 20], [datetime.date(2026, 3, 14), 1, "us", 10]]


def test_a_new_metric_without_the_whole_history(warehouse):
    warehouse.now = "2026-03-10"
    warehouse.run(CLICKS.format(OR_REFRESH))
    warehouse.now = str(TODAY)
    warehouse.run(CLICKS_AND_USERS.format(OR_REFRESH))
    assert warehouse.foreign("clickstream_daily") == [
        [datetime.date(2026, 3, 14), 1, 2, 1], [datetime.date(2026, 3, 6), 1, 1, None]]


def test_a_small_window_before_the_whole_history(warehouse):
    warehouse.run(REVENUE.format(OR_REFRESH), REVENUE_DML, "REFRESH STREAMING TABLE revenue_attribution")
    assert warehouse.foreign("revenue_attribution") == [
        [datetime.date(2020, 1, 1), 2, 7], [datetime.date(2026, 3, 14), 1, 11]]


@pytest.mark.parametrize(("name", "statement"), [
    ("orders_enriched", PIPELINE_SHORT), ("orders_enriched", LONG), ("events_agg", EVENTS.format("")),
    ("fact_dim_join", FACTS.format("", "f.")), ("clickstream_daily", CLICKS.format("")),
    ("clickstream_daily", CLICKS_AND_USERS.format("")), ("revenue_attribution", REVENUE.format(""))])
def test_the_same_in_a_pipeline_and_as_a_statement(warehouse, name, statement):
    """The pages of pipelines and of standalone tables have the same examples: the rows must be the same."""
    warehouse.run(statement)
    rows = warehouse.foreign(name)
    warehouse.run(f"DROP STREAMING TABLE {name}")
    (warehouse.folder / "spark-pipeline.yml").write_text(
        "name: p\nstorage: st\nlibraries: [{glob: {include: t/**}}]\ntidegate: {warehouse: wh}\n")
    (warehouse.folder / "t").mkdir()
    (warehouse.folder / "t" / "a.sql").write_text(statement)
    warehouse.tidegate("run", "--now", str(TODAY))
    assert warehouse.foreign(name) == rows != []
