-- The weather source keeps three days only; this table keeps every day that it ever saw.
CREATE OR REFRESH STREAMING TABLE weather_history
FLOW REPLACE WHERE weather_date >= date_add(current_date(), -2) BY NAME
SELECT
  weather_date,
  origin,
  count(*) AS hours,
  min(temp) AS temp_min,
  max(temp) AS temp_max
FROM weather_recent
GROUP BY ALL;
