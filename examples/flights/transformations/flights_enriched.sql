-- The last seven days of flights with their dimensions. Flights are announced first (scheduled columns), flown later (actual
-- times), sometimes corrected: each update replaces the days that may still change. Older rows stay as they were written.
CREATE OR REFRESH STREAMING TABLE flights_enriched
COMMENT 'one row per flight with airline, plane and destination'
FLOW REPLACE WHERE flight_date >= date_add(current_date(), -7) BY NAME
SELECT
  f.flight_date,
  f.carrier,
  a.name AS airline,
  f.flight,
  f.origin,
  f.dest,
  d.name AS dest_airport,
  f.tailnum,
  p.manufacturer,
  p.year AS plane_year,
  f.sched_dep_time,
  f.dep_time,
  f.dep_delay,
  w.wind_speed,
  w.visib
FROM flights f
JOIN airlines a ON f.carrier = a.carrier
LEFT JOIN airports d ON f.dest = d.faa
LEFT JOIN planes p ON f.tailnum = p.tailnum
LEFT JOIN weather w ON f.origin = w.origin AND f.time_hour = w.time_hour;
