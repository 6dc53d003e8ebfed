/* offchip sql: queries on a trace or a results file; nothing can be written. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/console/table.h"
#include "trace/base/csv_text.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/program/layout.h"
#include "trace/store/sql.h"

static int format;

static const struct opt options[] = {OPT_FORMAT(&format), {0}};

#define TABLES                                                                                                         \
    "SELECT name FROM pragma_table_list WHERE name NOT LIKE 'sqlite_%' AND name NOT LIKE 'json_%' "                    \
    "AND name NOT LIKE 'pragma_%' UNION SELECT 'records' FROM pragma_table_list WHERE name = 'streams'"

enum { TABLE_ROWS = 1000 /* under one head */, QUERY_MAX_BYTES = 1 << 20 };

/* --- values --- */

/* The shortest of 15 or 17 digits that reads back the same; always recognisable as a real. */
static void format_real(double value, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%.15g", value);
    if (strtod(buf, NULL) != value)
        (void)snprintf(buf, size, "%.17g", value);
    if (!strpbrk(buf, ".en"))
        (void)strcat(buf, ".0");
}

static char *hexadecimal(sqlite3_stmt *stmt, int column, size_t limit, struct err *err)
{
    const unsigned char *data = sqlite3_column_blob(stmt, column); /* NULL: of no bytes, or without memory */
    size_t n = data ? (size_t)sqlite3_column_bytes(stmt, column) : 0, shown = n < limit ? n : limit;
    char *text = mem_zalloc(shown * 2 + 4, 1, err);
    for (size_t i = 0; text && i < shown; i++)
        (void)snprintf(text + i * 2, 3, "%02x", data[i]);
    if (text && shown < n)
        memcpy(text + shown * 2, "...", 4);
    return text;
}

/* As it is, a zero byte behind it; in tables zero bytes are seen as \0. */
static char *whole_text(sqlite3_stmt *stmt, int column, struct err *err)
{
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    const size_t n = (size_t)sqlite3_column_bytes(stmt, column);
    char *copy = text ? mem_zalloc(2 * n + 1, 1, err) : NULL, *to = copy;
    if (!text)
        (void)err_set(err, "out of memory");
    for (size_t i = 0; copy && i < n; i++) {
        if (!text[i] && format == FORMAT_TABLE)
            *to++ = '\\';
        *to++ = text[i] || format != FORMAT_TABLE ? text[i] : '0';
    }
    return copy;
}

/* Copy a value as text for tables and CSV, zero bytes included. */
static char *value_text(sqlite3_stmt *stmt, int column, struct err *err)
{
    char buf[40];
    switch (sqlite3_column_type(stmt, column)) {
    case SQLITE_NULL:
        return mem_strdup(format == FORMAT_TABLE ? "n/a" : "", err);
    case SQLITE_INTEGER:
        (void)snprintf(buf, sizeof buf, "%lld", (long long)sqlite3_column_int64(stmt, column));
        return mem_strdup(buf, err);
    case SQLITE_FLOAT:
        format_real(sqlite3_column_double(stmt, column), buf, sizeof buf - 4);
        return mem_strdup(buf, err);
    case SQLITE_BLOB:
        return hexadecimal(stmt, column, format == FORMAT_TABLE ? 16 : SIZE_MAX / 4, err);
    default:
        return whole_text(stmt, column, err);
    }
}

static size_t text_bytes(sqlite3_stmt *stmt, int column, const char *text)
{
    return sqlite3_column_type(stmt, column) == SQLITE_TEXT ? (size_t)sqlite3_column_bytes(stmt, column) : strlen(text);
}

/* As a JSON string; bytes that are not UTF-8 become question marks. */
static int print_json_text(const char *text, size_t n, struct err *err)
{
    json_t *string = text ? json_tree_bytes(text, n) : NULL;
    char *dump = string ? json_tree_dump(string, JSON_ENCODE_ANY) : NULL;
    const int failed = dump ? 0 : err_set(err, "out of memory");
    if (dump)
        (void)fputs(dump, stdout);
    free(dump);
    json_decref(string);
    return failed;
}

/* A value in CSV or JSON. */
static int print_value(sqlite3_stmt *stmt, int column, struct err *err)
{
    const int type = sqlite3_column_type(stmt, column);
    const bool json = format == FORMAT_JSON;
    if (type == SQLITE_INTEGER) {
        printf("%lld", (long long)sqlite3_column_int64(stmt, column));
        return 0;
    }
    if (type == SQLITE_NULL || (json && type == SQLITE_FLOAT && !isfinite(sqlite3_column_double(stmt, column)))) {
        (void)fputs(json ? "null" : "", stdout);
        return 0;
    }
    int failed = 0;
    char *text = value_text(stmt, column, err);
    if (!text)
        return -1;
    if (type == SQLITE_FLOAT)
        (void)fputs(text, stdout);
    else if (json)
        failed = print_json_text(text, text_bytes(stmt, column, text), err);
    else
        csv_text_put_bytes(stdout, text, text_bytes(stmt, column, text), false);
    free(text);
    return failed;
}

/* --- rows --- */

struct output {
    int columns;
    size_t rows;
    struct table table; /* of the rows that are laid out together */
};

/* The names of the columns stand above. */
static void begin_table(struct output *out, sqlite3_stmt *stmt)
{
    table_init(&out->table, (size_t)out->columns);
    for (int c = 0; c < out->columns; c++)
        table_cell(&out->table, "%s", sqlite3_column_name(stmt, c));
}

static int begin(struct output *out, sqlite3_stmt *stmt, struct err *err)
{
    out->columns = sqlite3_column_count(stmt);
    for (int c = 0; c < out->columns; c++) {
        const char *name = sqlite3_column_name(stmt, c);
        if (!name)
            return err_set(err, "out of memory");
        if (format == FORMAT_CSV) {
            csv_text_put(stdout, name, false);
            (void)putchar(c + 1 == out->columns ? '\n' : ',');
        }
    }
    if (format == FORMAT_TABLE)
        begin_table(out, stmt);
    if (format == FORMAT_JSON)
        (void)putchar('[');
    return 0;
}

static int table_row(struct output *out, sqlite3_stmt *stmt, struct err *err)
{
    if (out->rows > 1 && out->rows % TABLE_ROWS == 1) {
        table_finish(&out->table, false);
        begin_table(out, stmt);
    }
    for (int c = 0; c < out->columns; c++) {
        char *text = value_text(stmt, c, err);
        if (!text)
            return -1;
        table_cell(&out->table, "%s", text);
        free(text);
    }
    return 0;
}

static int row(struct output *out, sqlite3_stmt *stmt, struct err *err)
{
    out->rows++;
    if (format == FORMAT_TABLE)
        return table_row(out, stmt, err);
    if (format == FORMAT_JSON)
        printf("%s\n{", out->rows > 1 ? "," : "");
    for (int c = 0; c < out->columns; c++) {
        if (format == FORMAT_JSON) {
            const char *name = sqlite3_column_name(stmt, c);
            (void)fputs(c ? ", " : "", stdout);
            if (print_json_text(name, name ? strlen(name) : 0, err))
                return -1;
            (void)fputs(": ", stdout);
        }
        if (print_value(stmt, c, err))
            return -1;
        if (format == FORMAT_CSV)
            (void)putchar(c + 1 == out->columns ? '\n' : ',');
    }
    if (format == FORMAT_JSON)
        (void)putchar('}');
    return ferror(stdout) ? err_set(err, "cannot write to standard output") : 0;
}

static void end(struct output *out)
{
    if (format == FORMAT_TABLE && out->columns)
        table_finish(&out->table, false);
    if (format == FORMAT_JSON)
        (void)fputs(out->rows ? "\n]\n" : "]\n", stdout);
}

/* --- statements --- */

static int run_statement(sqlite3 *db, const char *file, sqlite3_stmt *stmt)
{
    struct err err = {""};
    struct output out = {0};
    int failed = begin(&out, stmt, &err), rc = SQLITE_DONE;
    while (!failed && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        failed = row(&out, stmt, &err);
    end(&out);
    if (!failed && rc != SQLITE_DONE)
        failed = err_set(&err, "'%s': %s", file, sqlite3_errmsg(db));
    return failed ? cmd_fail(EXIT_DATA, "%s", err.msg) : EXIT_DONE;
}

/* List the tables: "a, b". */
static const char *tables(sqlite3 *db, char *buf, size_t size)
{
    sqlite3_stmt *stmt = NULL;
    buf[0] = 0;
    (void)sqlite3_prepare_v2(db, TABLES, -1, &stmt, NULL);
    while (stmt && sqlite3_step(stmt) == SQLITE_ROW)
        (void)mem_add_text(buf, size, "%s%s", *buf ? ", " : "", (const char *)sqlite3_column_text(stmt, 0));
    (void)sqlite3_finalize(stmt);
    return buf;
}

static int wrong_query(sqlite3 *db)
{
    char names[512], said[256];
    (void)snprintf(said, sizeof said, "%s", sqlite3_errmsg(db));
    return strncmp(said, "no such table", 13) == 0
               ? cmd_fail(EXIT_USAGE, "the query is wrong: %s; there are %s", said, tables(db, names, sizeof names))
               : cmd_fail(EXIT_USAGE, "the query is wrong: %s", said);
}

static int run_query(sqlite3 *db, const char *file, const char *query)
{
    query = strncmp(query, ".tables", 7) == 0 ? TABLES : query;
    int status = EXIT_DONE, statements = 0;
    while (status == EXIT_DONE && *query) {
        sqlite3_stmt *stmt = NULL;
        int rc = sqlite3_prepare_v2(db, query, -1, &stmt, &query);
        if (rc == SQLITE_AUTH)
            status = cmd_fail(EXIT_USAGE, "'sql' only reads: %s", sqlite3_errmsg(db));
        else if (rc && rc != SQLITE_ERROR) /* of the file */
            status = cmd_fail(EXIT_DATA, "'%s': %s", file, sqlite3_errmsg(db));
        else if (rc)
            status = wrong_query(db);
        else if (stmt && !sqlite3_stmt_readonly(stmt))
            status = cmd_fail(EXIT_USAGE, "'sql' only reads: this statement would write");
        else if (stmt && ++statements)
            status = run_statement(db, file, stmt);
        sqlite3_finalize(stmt);
    }
    if (status == EXIT_DONE && !statements)
        return cmd_usage("the query is empty");
    return status;
}

static char *query_from_stdin(struct err *err)
{
    char *text = mem_zalloc(QUERY_MAX_BYTES + 1, 1, err);
    size_t n = text ? fread(text, 1, QUERY_MAX_BYTES, stdin) : 0;
    if (text && (ferror(stdin) || n == QUERY_MAX_BYTES)) {
        err_set(err, "the query on standard input cannot be read, or is longer than 1 MiB");
        free(text);
        return NULL;
    }
    if (text && strlen(text) < n) {
        err_set(err, "the query on standard input has a zero byte behind %zu characters", strlen(text));
        free(text);
        return NULL;
    }
    return text;
}

static int run(int argc, char **argv)
{
    if (argc < 1 || argc > 2)
        return cmd_usage("one FILE and at most one QUERY are expected; %d operands were given", argc);
    struct err err = {""};
    sqlite3 *db = sql_open(argv[0], &err);
    if (!db)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    char *query = argc == 2 ? mem_strdup(argv[1], &err) : query_from_stdin(&err);
    int status = query ? run_query(db, argv[0], query) : cmd_fail(EXIT_DATA, "%s", err.msg);
    free(query);
    (void)sqlite3_close(db);
    return status;
}

const struct command cmd_sql = {
    .name = "sql",
    .summary = "query a trace or a results file in SQL",
    .usage = "FILE [QUERY] [OPTIONS]",
    .details = "Nothing can be written. '.tables' names what there is: a trace has `records`, results have `flat`, a "
               "row for each run.",
    .examples = "  offchip sql trace.db \"SELECT kind, count(*), sum(bytes) FROM records GROUP BY kind\"\n"
                "  offchip sql results.db --format csv \"SELECT policy, time_ns, h2d_bytes FROM flat\"\n"
                "  offchip sql trace.db --format json < query.sql",
    .options = options,
    .run = run,
};
