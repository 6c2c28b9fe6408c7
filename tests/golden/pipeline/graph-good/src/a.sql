USE SCHEMA raw;
CREATE TEMPORARY VIEW recent AS SELECT * FROM orders WHERE d > '2024-01-01';
CREATE OR REFRESH STREAMING TABLE daily (d DATE, n BIGINT COMMENT 'orders', CONSTRAINT pk PRIMARY KEY (d))
PARTITIONED BY (d) COMMENT 'orders per day' TBLPROPERTIES ('pipelines.reset.allowed' = 'false', 'quality' = 'gold')
FLOW REPLACE WHERE d >= date_sub(current_date(), 3) BY NAME
SELECT d, count(*) AS n FROM recent GROUP BY ALL;
CREATE MATERIALIZED VIEW main.default.total AS SELECT sum(n) AS n FROM daily;
