CREATE STREAMING TABLE wide;
CREATE FLOW fill_wide AS INSERT INTO wide BY NAME REPLACE WHERE d >= '2024-01-01'
SELECT d, t.n, o.* EXCEPT (d) FROM raw.daily JOIN total t JOIN delta.`lake/orders` o USING (d);
