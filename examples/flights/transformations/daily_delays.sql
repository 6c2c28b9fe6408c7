-- Flights that really left: a temporary view is expanded into the flows that read it.
CREATE TEMPORARY VIEW departed AS
SELECT * FROM flights WHERE dep_time IS NOT NULL;

-- Delays per day and airport, for the same seven days.
CREATE STREAMING TABLE daily_delays;

CREATE FLOW daily_delays AS
INSERT INTO daily_delays BY NAME
REPLACE WHERE flight_date >= date_add(current_date(), -7)
SELECT
  flight_date,
  origin,
  count(*) AS departed,
  sum(dep_delay) AS dep_delay_minutes,
  max(dep_delay) AS worst_delay
FROM departed
GROUP BY ALL;
