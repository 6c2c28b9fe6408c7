SET spark.sql.ansi.enabled = false;
SET spark.sql.shuffle.partitions = 3;
SET mine = 1;
CREATE MATERIALIZED VIEW a AS SELECT * FROM b;
