/* SPDX-License-Identifier: Apache-2.0 */
/* Clauses of datasets, in any order, each at most once. */
#include "sql/parser_int.h"

typedef enum clause {
    CLAUSE_NONE = 0,
    CLAUSE_PROPERTIES = 1,
    CLAUSE_COMMENT = 2,
    CLAUSE_PARTITIONED = 4,
    CLAUSE_CLUSTER = 8,
    CLAUSE_USING = 16,
    CLAUSE_LOCATION = 32,
    CLAUSE_SCHEDULE = 64,
    CLAUSE_POLICY = 128,
    CLAUSE_ROW_FILTER = 256,
    CLAUSE_OPTIONS = 512,
    CLAUSE_COLLATION = 1024
} clause;

static clause clause_here(tg_parser *parser, const char **out_name)
{
    static const struct {
        tg_keyword first, second;
        clause clause;
        const char *name;
    } CLAUSES[] = {
        {TG_KW_TBLPROPERTIES, TG_KW_NONE, CLAUSE_PROPERTIES, "TBLPROPERTIES"},
        {TG_KW_COMMENT, TG_KW_NONE, CLAUSE_COMMENT, "COMMENT"},
        {TG_KW_PARTITIONED, TG_KW_BY, CLAUSE_PARTITIONED, "PARTITIONED BY"},
        {TG_KW_CLUSTER, TG_KW_BY, CLAUSE_CLUSTER, "CLUSTER BY"},
        {TG_KW_USING, TG_KW_NONE, CLAUSE_USING, "USING"},
        {TG_KW_LOCATION, TG_KW_NONE, CLAUSE_LOCATION, "LOCATION"},
        {TG_KW_SCHEDULE, TG_KW_NONE, CLAUSE_SCHEDULE, "SCHEDULE"},
        {TG_KW_TRIGGER, TG_KW_ON, CLAUSE_SCHEDULE, "TRIGGER ON UPDATE"},
        {TG_KW_REFRESH, TG_KW_POLICY, CLAUSE_POLICY, "REFRESH POLICY"},
        {TG_KW_WITH, TG_KW_ROW, CLAUSE_ROW_FILTER, "WITH ROW FILTER"},
        {TG_KW_OPTIONS, TG_KW_NONE, CLAUSE_OPTIONS, "OPTIONS"},
        {TG_KW_DEFAULT, TG_KW_COLLATION, CLAUSE_COLLATION, "DEFAULT COLLATION"},
    };
    for (size_t i = 0; i < sizeof(CLAUSES) / sizeof(*CLAUSES); i++) {
        if (tg_parse_at(parser, CLAUSES[i].first) &&
            (CLAUSES[i].second == TG_KW_NONE || tg_parse_word(parser, 1) == CLAUSES[i].second)) {
            *out_name = CLAUSES[i].name;
            return CLAUSES[i].clause;
        }
    }
    return CLAUSE_NONE;
}

/* Words of a clause whose meaning is for another place: up to the next clause, AS, FLOW or the end. */
static tg_code skip_words(tg_parser *parser)
{
    const char *name;
    do {
        if (tg_parse_kind(parser, 0) == TG_TOK_ERROR) {
            return tg_parse_fail(parser, NULL);
        }
        tg_parse_advance(parser);
    } while (!tg_parse_at_end(parser) && tg_parse_word(parser, 0) != TG_KW_AS &&
             tg_parse_word(parser, 0) != TG_KW_FLOW && (clause_here(parser, &name) == CLAUSE_NONE));
    return TG_OK;
}

static tg_code parse_number_of(tg_parser *parser)
{
    if (tg_parse_kind(parser, 0) != TG_TOK_INTEGER) {
        return tg_parse_fail(parser, "a whole number");
    }
    tg_parse_advance(parser);
    return TG_OK;
}

/* SCHEDULE [REFRESH] EVERY n unit | CRON '..' [AT TIME ZONE z] | TRIGGER ON UPDATE [AT MOST EVERY INTERVAL ..] */
static tg_code parse_schedule_words(tg_parser *parser)
{
    if (tg_parse_accept(parser, TG_KW_TRIGGER)) {
        return skip_words(parser);
    }
    tg_parse_advance(parser);
    (void)tg_parse_accept(parser, TG_KW_REFRESH);
    if (tg_parse_accept(parser, TG_KW_EVERY)) {
        static const tg_keyword UNITS[] = {TG_KW_HOUR, TG_KW_HOURS, TG_KW_DAY,
                                           TG_KW_DAYS, TG_KW_WEEK,  TG_KW_WEEKS};
        TG_TRY(parse_number_of(parser));
        bool found = false;
        for (size_t i = 0; i < sizeof(UNITS) / sizeof(*UNITS) && !found; i++) {
            found = tg_parse_accept(parser, UNITS[i]);
        }
        if (!found) {
            return tg_parse_fail(parser, "HOURS, DAYS or WEEKS");
        }
    } else {
        tg_str cron;
        TG_TRY(tg_parse_expect(parser, TG_KW_CRON));
        TG_TRY(tg_parse_string(parser, "a cron text", &cron));
        if (tg_parse_accept2(parser, TG_KW_AT, TG_KW_TIME)) {
            TG_TRY(tg_parse_expect(parser, TG_KW_ZONE));
            TG_TRY(tg_parse_string(parser, "a time zone", &cron));
        }
    }
    return TG_OK;
}

tg_code tg_parse_schedule(tg_parser *parser, tg_dataset_clauses *clauses)
{
    size_t offset = tg_parse_offset(parser);
    TG_TRY(parse_schedule_words(parser));
    clauses->schedule_span = tg_parse_span_from(parser, offset);
    clauses->schedule = tg_parse_text(parser, clauses->schedule_span);
    return TG_OK;
}

static tg_code parse_cluster(tg_parser *parser, tg_dataset_clauses *clauses)
{
    tg_parse_advance(parser);
    tg_parse_advance(parser);
    if (tg_parse_accept(parser, TG_KW_AUTO)) {
        clauses->cluster_auto = true;
        return TG_OK;
    }
    tg_expr_vec columns = {0};
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'(' or AUTO"));
    TG_TRY(tg_parse_expr_list(parser, &columns));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "',' or ')'"));
    clauses->cluster_by = columns.items;
    clauses->cluster_count = columns.count;
    return TG_OK;
}

static tg_code parse_clause(tg_parser *parser, tg_stmt *stmt, clause which)
{
    tg_dataset_clauses *clauses = &stmt->clauses;
    size_t offset = tg_parse_offset(parser);
    tg_ident word;
    switch (which) {
    case CLAUSE_PROPERTIES:
        tg_parse_advance(parser);
        return tg_parse_properties(parser, &clauses->properties, &clauses->property_count);
    case CLAUSE_OPTIONS:
        tg_parse_advance(parser);
        return tg_parse_properties(parser, &clauses->options, &clauses->option_count);
    case CLAUSE_COMMENT:
        tg_parse_advance(parser);
        return tg_parse_string(parser, "a comment", &clauses->comment);
    case CLAUSE_PARTITIONED:
        tg_parse_advance(parser);
        tg_parse_advance(parser);
        return tg_parse_ident_list(parser, "a column name", &clauses->partition_by,
                                   &clauses->partition_count);
    case CLAUSE_CLUSTER:
        return parse_cluster(parser, clauses);
    case CLAUSE_USING:
        tg_parse_advance(parser);
        TG_TRY(tg_parse_ident(parser, "a format", &word));
        clauses->using_format = word.text;
        return TG_OK;
    case CLAUSE_LOCATION:
        tg_parse_advance(parser);
        return tg_parse_string(parser, "a path", &clauses->location);
    case CLAUSE_SCHEDULE:
        return tg_parse_schedule(parser, clauses);
    case CLAUSE_POLICY:
        tg_parse_advance(parser);
        tg_parse_advance(parser);
        TG_TRY(tg_parse_ident(parser, "AUTO, INCREMENTAL, INCREMENTAL STRICT or FULL", &word));
        clauses->refresh_policy = tg_str_upper(parser->arena, word.text);
        if (tg_parse_accept(parser, TG_KW_STRICT)) {
            clauses->refresh_policy = TG_S("INCREMENTAL STRICT");
        }
        return TG_OK;
    case CLAUSE_ROW_FILTER:
        TG_TRY(skip_words(parser));
        clauses->row_filter_span = tg_parse_span_from(parser, offset);
        clauses->row_filter = tg_parse_text(parser, clauses->row_filter_span);
        return TG_OK;
    case CLAUSE_COLLATION:
        tg_parse_advance(parser);
        tg_parse_advance(parser);
        TG_TRY(tg_parse_ident(parser, "a collation", &word));
        clauses->collation = word.text;
        return tg_str_ieq(word.text, TG_S("UTF8_BINARY"))
                   ? TG_OK
                   : tg_parse_unsupported(parser, offset,
                                          "a default collation other than UTF8_BINARY");
    case CLAUSE_NONE:
        break;
    }
    return TG_OK;
}

tg_code tg_parse_clauses(tg_parser *parser, tg_stmt *stmt)
{
    unsigned seen = 0;
    for (;;) {
        const char *name;
        clause which = clause_here(parser, &name);
        if (which == CLAUSE_NONE) {
            return TG_OK;
        }
        if (seen & (unsigned)which) {
            (void)TG_ERR(parser->err, DUPLICATE_CLAUSES, "the clause %s is given twice", name);
            (void)tg_error_hint(parser->err, "Remove one of them.");
            return tg_error_span(parser->err, tg_parse_offset(parser),
                                 tg_parse_peek(parser, 0)->len);
        }
        seen |= (unsigned)which;
        TG_TRY(parse_clause(parser, stmt, which));
    }
}
