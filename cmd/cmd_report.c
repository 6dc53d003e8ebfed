/* offchip report: compare runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "cmd/console/table.h"
#include "replay/report/report.h"
#include "replay/results/case_table.h"
#include "replay/results/results.h"
#include "trace/base/mem.h"
#include "trace/base/version.h"
#include "trace/store/output.h"

static const char *metrics, *by, *pivot, *html;
static int aggregate, format;
static bool all, no_best, force;

enum { MARKDOWN = FORMAT_JSON + 1, MANY = 10 };

static const struct opt options[] = {
    OPT_GROUP("Rows and columns"),
    OPT("metric", 'm', OPT_JOIN, "LIST", &metrics,
        "metrics to show, comma-separated (default: the engine's headline); the first is what '*' is by, if policies "
        "rank by it"),
    OPT("all", 'a', OPT_FLAG, NULL, &all, "every metric, those that are n/a too"),
    OPT("by", 0, OPT_TEXT, "KEY", &by, "a row for each kernel or allocation of a run, or for each value of a key"),
    OPT("pivot", 0, OPT_TEXT, "KEY", &pivot, "a column for each value of a parameter, setting, key or 'policy'"),
    OPT("aggregate", 0, OPT_CHOICE, "declared|sum|min|max|mean|geomean", &aggregate,
        "how --by and a pivot's last row combine (default: as the metric declares)"),
    OPT("no-best", 0, OPT_FLAG, NULL, &no_best, "leave out the best of the fixed policies"),
    OPT_GROUP("Output"),
    OPT("format", 0, OPT_CHOICE, "table|csv|json|markdown", &format, "how the report is printed (default table)"),
    OPT("html", 0, OPT_TEXT, "OUT", &html, "also write one HTML file: tables that sort and filter, figures"),
    OPT("force", 'f', OPT_FLAG, NULL, &force, "overwrite OUT"),
    {0}};

/* Shorten each warning to its kind: "not settled, faster than alone". */
static void short_warnings(struct table *t, const char *text)
{
    char line[160] = "", what[80];
    for (const char *p = text; *p;) {
        const char *next = strstr(p, " | ");
        (void)snprintf(what, sizeof what, "%.*s", (int)strcspn(p, ":|"), p);
        if (!strstr(line, what))
            (void)snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s", *line ? ", " : "", what);
        p = next ? next + 3 : "";
    }
    table_cell(t, "%s", line);
}

static const char *warning_of(const struct report *report, size_t row)
{
    return report->cells[row * report->columns + report->texts - 1].text;
}

/* Under the table each warning once, with its rows. */
static void print_warnings(const struct report *report)
{
    enum { SHOWN = 8 };
    json_t *left = json_object(); /* warnings that were not printed: how many rows have each */
    for (size_t r = 0; r < report->rows; r++) {
        const char *text = warning_of(report, r);
        const json_int_t before = json_integer_value(json_object_get(left, text));
        if (*text && json_object_set_new_nocheck(left, text, json_integer(before + 1)))
            printable_fail();
    }
    for (size_t r = 0, shown = 0; r < report->rows && (opt_verbose || shown < SHOWN); r++) {
        const json_int_t rows = json_integer_value(json_object_get(left, warning_of(report, r)));
        char whose[64];
        if (!rows)
            continue;
        (void)snprintf(whose, sizeof whose, "warning, row %zu%s", r + 1, rows > 1 ? " and others" : "");
        notes_print(stdout, whose, warning_of(report, r));
        (void)json_object_del(left, warning_of(report, r));
        shown++;
    }
    if (json_object_size(left))
        printable_print(stdout, "%zu other warnings: -v prints them\n", json_object_size(left));
    json_decref(left);
}

static void human(struct table *t, const struct report_cell *cell)
{
    static const struct metric plain = {"", METRIC_REAL, METRIC_MEAN, ""};
    char buf[160];
    if (cell->text)
        table_cell(t, "%s%s", cell->text,
                   format != FORMAT_TABLE || !cell->mark.best ? ""
                   : cell->mark.tied                          ? " ="
                                                              : " *");
    else if (!cell->metric && !cell->value.known && !cell->value.interval)
        table_cell(t, "n/a");
    else
        table_cell(t, "%s", metric_text(cell->metric ? cell->metric : &plain, &cell->value, buf, sizeof buf));
}

/* Signs that would end a cell or begin an element. */
static void print_markdown_cell(const char *text)
{
    (void)fputs("| ", stdout);
    for (; *text; text++) {
        if (strchr("|<\\`", *text))
            (void)putchar('\\');
        (void)putchar(*text);
    }
    (void)putchar(' ');
}

static void print_markdown(const struct table *t)
{
    size_t rows = t->count / t->columns;
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < t->columns; c++)
            print_markdown_cell(t->cells[r * t->columns + c]);
        puts("|");
        for (size_t c = 0; r == 0 && c < t->columns; c++)
            printf("|%s", c ? " ---: " : " --- ");
        if (r == 0)
            puts("|");
    }
}

/* The same columns as in CSV. */
static void row_json(json_t **row, const char *name, const struct report_cell *cell, bool interval)
{
    const struct metric_value *v = &cell->value;
    const bool whole = cell->metric && cell->metric->type == METRIC_INT;
    json_tree_put(row, name, !v->known ? json_null() : whole ? json_integer(v->whole) : json_tree_real(v->real));
    for (int end = 0; interval && end < 2; end++) {
        char *bound = NULL;
        if (asprintf(&bound, "%s%s", name, end ? "_hi" : "_lo") < 0)
            bound = NULL;
        json_tree_put(row, bound, v->interval ? json_tree_real(end ? v->hi : v->lo) : json_null());
        free(bound);
    }
}

/* The columns whose values of this row are estimates. */
static json_t *unbound(const struct report *report, size_t row)
{
    const struct report_cell *cells = &report->cells[row * report->columns];
    json_t *names = json_array();
    for (size_t c = report->texts; c < report->columns; c++)
        if (cells[c].value.unbound && cells[c].value.known)
            json_tree_add(&names, json_tree_text(report->header[c]));
    return names;
}

/* What limits the inputs of a row; a pivot's row may be of any run. */
static json_t *limits(const struct report *report, const struct run_set *runs, size_t row)
{
    json_t *said = json_array();
    if (report->run_of ? run_note_limits(&runs->runs[report->run_of[row]], said) : run_set_note_limits(runs, said))
        printable_fail();
    return said;
}

static int print_json(const struct report *report, const struct run_set *runs)
{
    json_t *rows = json_array();
    for (size_t r = 0; r < report->rows; r++) {
        json_t *row = json_object();
        for (size_t c = 0; c < report->columns; c++) {
            const struct report_cell *cell = &report->cells[r * report->columns + c];
            if (c < report->texts)
                json_tree_put(&row, report->header[c], json_tree_text(cell->text));
            else
                row_json(&row, report->header[c], cell, report->intervals[c]);
        }
        json_t *names = unbound(report, r);
        if (json_array_size(names))
            json_tree_put(&row, "unbound", json_incref(names));
        json_decref(names);
        json_t *said = limits(report, runs, r);
        if (json_array_size(said))
            json_tree_put(&row, "limits", json_incref(said));
        json_decref(said);
        json_tree_add(&rows, row);
    }
    return cmd_print_json(json_pack("{s:i,s:o}", "schema", 1, "rows", rows));
}

static void print_csv(const struct report *report, const struct run_set *runs)
{
    struct table t;
    table_init(&t, 0);
    for (size_t c = 0; c < report->columns; c++)
        table_head(&t, report->header[c], report->intervals[c]);
    const size_t few = t.count;
    TABLE_WORDS(&t, "unbound", "limits");
    t.columns = t.count;
    for (size_t i = 0; i < report->rows * report->columns; i++) {
        if (report->cells[i].text)
            table_cell(&t, "%s", report->cells[i].text);
        else
            table_exact(&t, report->cells[i].metric, &report->cells[i].value, report->intervals[i % report->columns]);
        if ((i + 1) % report->columns)
            continue;
        table_joined(&t, unbound(report, i / report->columns), " ");
        table_joined(&t, limits(report, runs, i / report->columns), "; ");
    }
    table_leave_out_empty(&t, few, few + 2);
    table_finish(&t, true);
}

/* Whether a column is printed for people: not a metric that no run knows, unless it was asked for. */
static bool is_shown(const struct report *report, size_t column)
{
    if (column < report->texts || metrics || all || pivot)
        return true;
    for (size_t r = 0; r < report->rows; r++) {
        const struct metric_value *v = &report->cells[r * report->columns + column].value;
        if (v->known || v->interval)
            return true;
    }
    return false;
}

/* A metric without the unit that its values bring; columns of a pivot are no metrics. */
static const char *head(const struct report *report, size_t column, char *buf, size_t size)
{
    const struct metric *m = report->rows ? report->cells[column].metric : NULL;
    const bool named = m && strcmp(m->name, report->header[column]) == 0;
    return named ? metric_label(m->name, buf, size) : report->header[column];
}

/* Print a pivot of many values and few rows transposed: a row for each value of the key. */
static void print_turned(const struct report *report)
{
    struct table t;
    table_init(&t, report->rows + 1);
    table_cell(&t, "%s", pivot);
    for (size_t r = 0; r < report->rows; r++) {
        char name[320] = "";
        for (size_t c = 0; c < report->texts; c++) {
            const char *text = report->cells[r * report->columns + c].text;
            (void)mem_add_text(name, sizeof name, "%s%s", *name && *text ? " " : "", text);
        }
        table_cell(&t, "%s", name);
    }
    for (size_t c = report->texts; c < report->columns; c++) {
        table_cell(&t, "%s", report->header[c]);
        for (size_t r = 0; r < report->rows; r++)
            human(&t, &report->cells[r * report->columns + c]);
    }
    table_finish(&t, false);
}

static void print_for_people(const struct report *report)
{
    struct table t;
    struct left_out left = {.known = report->more};
    size_t columns = 0;
    char buf[80];
    if (pivot)
        printable_print(stdout, "%s by %s:\n", metric_label(report->pivoted, buf, sizeof buf), pivot);
    if (pivot && format == MARKDOWN)
        (void)putchar('\n');
    if (pivot && format == FORMAT_TABLE && report->columns > report->texts + MANY && report->columns > report->rows) {
        print_turned(report);
        return;
    }
    for (size_t c = 0; c < report->columns; c++)
        left.unknown += !is_shown(report, c);
    table_init(&t, report->columns - left.unknown);
    t.keys = report->texts - report->warned;
    t.left = !metrics && !all && !pivot && !by ? &columns : NULL;
    for (size_t c = 0; c < report->columns; c++)
        if (is_shown(report, c))
            table_cell(&t, "%s", head(report, c, buf, sizeof buf));
    for (size_t i = 0; i < report->rows * report->columns; i++)
        if (report->warned && i % report->columns == report->texts - 1)
            short_warnings(&t, report->cells[i].text);
        else if (is_shown(report, i % report->columns))
            human(&t, &report->cells[i]);
    if (format == MARKDOWN)
        print_markdown(&t);
    else
        table_print(&t, stdout);
    left.known += columns;
    if (report->warned)
        print_warnings(report);
    if (format == FORMAT_TABLE)
        left_out_say(&left, "in every run");
    table_release(&t);
}

static int print(const struct report *report, const struct run_set *runs)
{
    if (format == FORMAT_JSON)
        return print_json(report, runs);
    if (format == FORMAT_CSV)
        print_csv(report, runs);
    else
        print_for_people(report);
    return EXIT_DONE;
}

/* The HTML file is made whole or not at all. */
static int write_html(const struct run_set *runs)
{
    struct err err = {""};
    struct output file;
    if (output_open(&file, html, force, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    json_t *missing = json_array();
    int rc = html_write(runs, metrics, offchip_version, file.file, missing, &err)
                 ? err_at(&err, "cannot write '%s'", html)
                 : 0;
    cmd_say_notes(missing);
    json_decref(missing);
    if (output_close(&file, rc, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    cmd_say("wrote %s", html);
    return EXIT_DONE;
}

/* Whose numbers the runs were made with. */
static void print_platforms(const struct run_set *runs)
{
    json_t *lines = json_array(), *line;
    size_t i;
    if (!lines || report_platforms(runs, lines))
        printable_fail();
    json_array_foreach(lines, i, line) printable_print(stdout, "%s\n", json_string_value(line));
    if (format == MARKDOWN && json_array_size(lines))
        (void)putchar('\n');
    json_decref(lines);
}

static int report_runs(struct run_set *runs)
{
    struct err err = {""};
    struct report report;
    const struct report_options how = {.metrics = metrics,
                                       .by = by,
                                       .pivot = pivot,
                                       .aggregate = (enum aggregate_how)aggregate,
                                       .ranks = format == FORMAT_TABLE || format == MARKDOWN,
                                       .all = all,
                                       .no_best = no_best || html};
    if (report_make(&report, runs, &how, &err))
        return cmd_usage("%s", err.msg);
    cmd_say_notes(report.notes);
    if (!html && (format == FORMAT_TABLE || format == MARKDOWN)) {
        if (*report.answer)
            printable_print(stdout, format == MARKDOWN ? "%s\n\n" : "%s\n", report.answer);
        print_platforms(runs);
    }
    int status = html ? write_html(runs) : print(&report, runs);
    report_release(&report);
    return status;
}

/* Print a table for each engine, whose metrics differ. */
static int report_engines(const struct run_set *whole)
{
    struct err err = {""};
    int status = EXIT_DONE;
    for (size_t i = 0; i < whole->count && status == EXIT_DONE; i++) {
        size_t first = 0;
        while (strcmp(whole->runs[first].engine, whole->runs[i].engine) != 0)
            first++;
        if (first < i)
            continue;
        struct run_set runs = {0};
        if (i)
            (void)putchar('\n');
        status = run_set_add_engine(&runs, whole, whole->runs[i].engine, &err) ? cmd_fail(EXIT_DATA, "%s", err.msg)
                                                                               : report_runs(&runs);
        run_set_release(&runs);
    }
    return status;
}

static int run(int argc, char **argv)
{
    lines_at_most(format == FORMAT_TABLE ? LINES_COLUMNS : 0);
    if (argc < 1)
        return cmd_usage(
            "results are needed: files of 'offchip replay -o' or 'offchip sweep', or JSON of 'offchip replay'");
    if (all && (metrics || pivot || html))
        return cmd_usage("--all and --%s do not go together", metrics ? "metric" : pivot ? "pivot" : "html");
    if (html && pivot)
        return cmd_usage("--html and --pivot do not go together: the page sorts and filters by itself");
    cmd_reads_all((const char *const *)argv, (size_t)argc);
    int status = html ? cmd_writes(html, force) : EXIT_DONE;
    if (status)
        return status;
    struct err err = {""};
    struct run_set runs = {0};
    int rc = 0;
    for (int i = 0; i < argc && !rc; i++)
        rc = cmd_load_runs(&runs, argv[i], &err);
    struct case_table table;
    if (!rc && (rc = case_table_make(&table, &runs, NULL, &err)) == 0) /* runs that cannot be told apart */
        case_table_release(&table);
    status = rc ? cmd_fail(EXIT_DATA, "%s", err.msg) : EXIT_DONE;
    if (!rc && !runs.count)
        status = cmd_fail(EXIT_NOTHING, "the results hold no runs");
    bool people = !metrics && !by && !pivot && !html && (format == FORMAT_TABLE || format == MARKDOWN);
    if (status == EXIT_DONE)
        status = people ? report_engines(&runs) : report_runs(&runs);
    run_set_release(&runs);
    return status;
}

int cmd_report_print(const char *results, enum opt_format as, bool every)
{
    char *argv[] = {(char *)results, NULL};
    format = (int)as;
    all = every;
    return run(1, argv);
}

const struct command cmd_report = {
    .name = "report",
    .summary = "compare runs: a row each, or a column for each value of a parameter",
    .usage = "RESULTS... [OPTIONS]",
    .details = "Columns are the fewest keys that tell the cases apart, the policy, and the metrics. '*' marks the best "
               "policy of a case, '=' several that are the same within the model's error.",
    .examples = "  offchip report results.db\n"
                "  offchip report results.db --pivot oversubscription_pct --metric speedup_ratio --format markdown\n"
                "  offchip report results.db --by kernel",
    .options = options,
    .run = run,
};
