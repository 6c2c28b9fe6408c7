-- literals
SELECT 1, -1, 12L, -12L, 3S, 4Y, 1.5, .5, 1., 1e3, 1.5e-3, 1.5D, 1.5F, 1.50BD, 9223372036854775808, 99999999999999999999999999999999999999;
SELECT -128Y, -32768S, -2147483648, -9223372036854775808, -9223372036854775808L, - -128Y, -(-2147483648), 0.0D, -0.0D, -0.0;
SELECT 'a', "b", 'it''s', 'a' 'b', 'tab\tnew\nline\\', r'raw\n', R"raw", '\u0041\101\0', '%\%\_', '', 'Ünï', '\Z';
SELECT TRUE, false, NULL, (NULL).a, (TRUE).b, NULL[0];
SELECT DATE'2024-01-31', DATE 'epoch', DATE'today', TIMESTAMP'2024-01-31 01:02:03.5Z', TIMESTAMP'2024-01-31 01:02:03', TIMESTAMP_NTZ'2024-01-31 01:02:03', TIMESTAMP_LTZ'2024-01-31 01:02:03+02:00', X'00fF', X'F', DATE'2024', TIMESTAMP'now';
SELECT INTERVAL 1 DAY, INTERVAL -1 DAY, INTERVAL '1' DAY, INTERVAL -'1' DAY, INTERVAL 1 YEAR 2 MONTHS, INTERVAL 1.5 SECONDS, INTERVAL '1-2' YEAR TO MONTH, INTERVAL -'1-2' YEAR TO MONTH, INTERVAL '1 02:03:04.5' DAY TO SECOND, INTERVAL '02:03' HOUR TO MINUTE, INTERVAL '1 day 2 hours', INTERVAL 3 WEEKS, INTERVAL 1 DAY 2 HOURS 3 MINUTES;
SELECT INTERVAL a DAY, INTERVAL (a + b) DAY, INTERVAL (a.b) DAY, INTERVAL :p DAY, INTERVAL (?) DAY, INTERVAL (1) DAY, INTERVAL (f(x)) HOUR, INTERVAL `select` MONTH, INTERVAL (a) MONTH;
-- names and stars
SELECT a, a.b, a.b.c, `a b`, `a``b`, `1a`, 1a, `select`.`from`, (a).b, (a.b).c, f(x).y, a[0].b, (a + b).c, 'x'.y, :p, :p.q, ?, ?.q;
SELECT *, t.*, a.t.*, * EXCEPT (a), t.* EXCEPT (a, b.c), * EXCEPT (`x y`), (*)[1], count(*), count(t.*);
SELECT `left`, `case`, `not`, `interval`, `date`, date, day, current, row, unbounded, first, `current_date`, `user`, `exists`, `values`, `when`;
SELECT IDENTIFIER('a.b'), IDENTIFIER('f')(1);
-- operators
SELECT a + b - c * d / e % f DIV g, a || b || c, a & b | c ^ d, a << 1 >> 2 >>> 3, -a, +a, ~a, - -a, -+-a, -(1), -(-1), +1, ~-1, a - -1, a - (-1), (a + b) * c, a - (b - c), a * (b / c), (a || b) + c;
SELECT a = b, a == b, a <> b, a != b, a < b, a <= b, a > b, a >= b, a <=> b, a !> b, a !< b, (a = b) = c, a = (b = c), a + b = c | d, (a < b) < c;
SELECT a AND b OR c, a OR b AND c, (a OR b) AND c, NOT a, NOT NOT a, NOT (a AND b), (NOT a) = b, ! a, NOT a = b, a AND (b AND c), a OR (b OR c), NOT (a OR b) AND c, (NOT a) AND b;
SELECT a IS NULL, a IS NOT NULL, a IS TRUE, a IS NOT FALSE, a IS UNKNOWN, a IS DISTINCT FROM b, a IS NOT DISTINCT FROM b + 1, (a IS NULL) IS TRUE, (a AND b) IS NULL, a = b IS NULL, NOT a IS NULL;
SELECT a BETWEEN 1 AND 2, a NOT BETWEEN b + 1 AND c, a BETWEEN (b AND c) AND d, (a BETWEEN 1 AND 2) AND b, a BETWEEN 1 AND 2 AND c, (a BETWEEN 1 AND 2) BETWEEN b AND c;
SELECT a IN (1), a IN (1, 2), a NOT IN (b, c + 1), a IN (SELECT 1), a NOT IN (SELECT b FROM t), a IN ((SELECT 1), 2), a IN ((SELECT 1)), (a, b) IN ((1, 2), (3, 4)), (a, b) IN (SELECT 1, 2), a IN (VALUES 1, 2), a IN (WITH x AS (SELECT 1) SELECT * FROM x), a IN ((1)), (a IN (1)) IN (TRUE);
SELECT a LIKE 'x%', a NOT LIKE 'x' ESCAPE '!', a ILIKE b, a RLIKE 'x', a REGEXP 'y', a NOT RLIKE b, a LIKE ANY ('x', 'y'), a NOT LIKE ALL ('x'), a ILIKE SOME ('x', b), a LIKE b || c, (a LIKE b) LIKE c, a LIKE (b LIKE c);
SELECT EXISTS (SELECT 1), NOT EXISTS (SELECT 1 FROM t), exists(arr, x -> x > 1), (EXISTS (SELECT 1)) = TRUE, NOT NOT EXISTS (SELECT 1);
SELECT (SELECT 1), (SELECT a FROM t) + 1, ((SELECT 1)), (VALUES 1), ((SELECT 1) UNION (SELECT 2)), (SELECT 1).a, (SELECT arr FROM t)[0], ((SELECT 1) + 1), ((SELECT 1) LIMIT 1);
SELECT CASE WHEN a THEN b END, CASE WHEN a THEN b ELSE c END, CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 ELSE 5 END, CASE WHEN a OR b THEN CASE c WHEN d THEN e END END, CASE (`when`) WHEN 1 THEN 2 END, CASE WHEN a THEN b END.c, CASE WHEN a THEN b END[0];
SELECT CAST(a AS INT), TRY_CAST(a AS STRING), a::INT, a::INT::STRING, (a + b)::DECIMAL(10, 2), -1::INT, (-a)::INT, CAST(a AS DECIMAL), CAST(a AS NUMERIC(5)), CAST(NULL AS VOID);
SELECT CAST(a AS ARRAY<INT>), CAST(a AS MAP<STRING, ARRAY<INT>>), CAST(a AS STRUCT<a: INT, b STRING NOT NULL COMMENT 'c', `x y`: ARRAY<STRUCT<z: INT>>>), CAST(a AS STRUCT<>), CAST(a AS INTERVAL DAY TO SECOND), CAST(a AS INTERVAL YEAR), CAST(a AS VARCHAR(10)), CAST(a AS CHAR(3)), CAST(a AS TIMESTAMP_NTZ), CAST(a AS BINARY), CAST(a AS VARIANT), CAST(a AS STRING COLLATE UTF8_BINARY), CAST(a AS STRUCT<select: INT, `from`: INT, in INT>);
SELECT f(), f(a), f(a, b), a.b.f(x), `f g`(x), `left`(a, 1), left(a, 1), right(a, 1), if(a, b, c), any(a), some(a), filter(arr, x -> x > 1), div(7, 2), `values`(1), `select`(1), first(a), count(DISTINCT a), count(DISTINCT a, b), count(ALL a), f(DISTINCT (a)), f(a, `distinct`(b));
SELECT f(x => 1), f(a, y => b, `z z` => c), struct(a AS x, b, c AS `y z`), (a AS x, b), (a, b), ((a, b), c), named_struct('a', 1), f((a, b)), (a AS x);
SELECT sum(a) FILTER (WHERE b > 1), percentile_cont(0.5) WITHIN GROUP (ORDER BY a DESC NULLS LAST), first(a) IGNORE NULLS, first(a IGNORE NULLS), last(a) RESPECT NULLS, lag(a) IGNORE NULLS OVER (ORDER BY b), listagg(a, ',') WITHIN GROUP (ORDER BY b) FILTER (WHERE c) OVER (PARTITION BY d);
SELECT current_date, current_timestamp, current_user, user, session_user, current_date(), (current_date).x, current_date + 1, `current_date`;
SELECT extract(YEAR FROM a), extract('YEAR', a), extract(week FROM a + b), substring(a FROM 1), substring(a FROM 1 FOR 2), substr(a FROM b), overlay(a PLACING b FROM 1), overlay(a PLACING b FROM 1 FOR 2), position(a IN b), position(a, b), trim(a), trim(BOTH FROM a), trim(BOTH 'x' FROM a), trim(LEADING 'x' FROM a), trim(TRAILING FROM a), trim('x' FROM a), ltrim('x', a);
SELECT dateadd(DAY, 1, d), date_add(d, 1), dateadd(d, 1), timestampadd(HOUR, a, ts), datediff(MONTH, a, b), datediff(a, b), timestampdiff(second, a, b), dateadd(dayofyear, 1, d), dateadd('day', 1, d), date_diff(`year`, a, b), dateadd(`day`, 1, d), `dateadd`(day, 1, d), `dateadd`('DAY', 1, d), `trim`(a), `position`(a, b);
SELECT transform(a, x -> x + 1), transform(a, (x, i) -> x + i), aggregate(a, 0, (acc, x) -> acc + x, acc -> acc), f(x -> (y -> x + y)), (x -> x) AND b, f((`select`) -> `select`), map_filter(m, (k, v) -> k > v AND v < 1);
SELECT a[0], a[b + 1], a['x'], a[0][1], f(a)[0], (a + b)[0], array(1, 2)[0], (-1)[0], a[b = c], a COLLATE UTF8_BINARY, 'x' COLLATE UTF8_BINARY = b;
SELECT a AS b, a b, a AS `x y`, a `x y`, f(a) AS (x, y), a AS `select`, a AS date, 1 AS `1`;
