SET day = 2024-01-02;
-- ${not_looked_at}
CREATE MATERIALIZED VIEW a AS SELECT * FROM ${source} WHERE d = '${day}';
