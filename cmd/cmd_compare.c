/* offchip compare: one program on one machine under every mechanism, ranked. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "cmd/console/progress_line.h"
#include "cmd/console/table.h"
#include "replay/compare/compare.h"
#include "replay/report/report.h"
#include "replay/run/platform_use.h"
#include "replay/run/verdict.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"
#include "trace/base/version.h"
#include "trace/derived/limits.h"
#include "trace/store/output.h"

static const char *platform, *output, *html;
static struct opt_list sets;
static int64_t draws, jobs, top;
static bool all, mixed, whole, force, plan; /* plan: the output is one */
static int format;

static const struct opt options[] = {
    OPT_GROUP("What is compared"),
    OPT("all", 'a', OPT_FLAG, NULL, &all,
        "unified memory under every prefetcher with every eviction; all rows and columns"),
    OPT("mixed", 0, OPT_FLAG, NULL, &mixed,
        "also a mechanism for each allocation, where memory is not short and above 256 MiB too"),
    OPT("whole", 0, OPT_FLAG, NULL, &whole,
        "run everything to its end, however long (without: above 256 MiB much is run in part)"),
    OPT_ROBUST(&draws),
    {"jobs", 'j', OPT_INT, "N", &jobs, "threads (default: all processors)", 1, 4096},
    OPT_GROUP("Machine"),
    OPT("platform", 'P', OPT_TEXT, "NAME|FILE.ini", &platform,
        "hardware numbers (default: of the GPU that a recording names, else h200)"),
    OPT("set", 's', OPT_LIST, "KEY=VALUE", &sets,
        "oversubscription_pct, gpu_memory_bytes, sm_share_pct, or a number of the platform"),
    OPT_GROUP("Output"),
    {"top", 0, OPT_INT, "N", &top,
     "say how to have the N best mechanisms, and what to run of each on the machine itself", 0, COMPARE_MECHANISMS},
    OPT("output", 'o', OPT_TEXT, "RESULTS|PLAN.ini", &output,
        "RESULTS: keep the rows, and go on from there. PLAN.ini: the best plan for record --apply"),
    OPT("html", 0, OPT_TEXT, "OUT", &html, "also write the decision as one HTML page"),
    OPT("force", 'f', OPT_FLAG, NULL, &force, "replace RESULTS, PLAN.ini or OUT"),
    OPT_FORMAT(&format),
    {0}};

/* What people are shown: rows by their numbers, best first. */
struct view {
    const struct compare_result *result;
    const struct compare_verdict *verdict;
    struct noted *noted;
    size_t *rows, count;
};

static void print_rows(const struct view *view, FILE *to)
{
    const struct compare_result *result = view->result;
    struct table t;
    size_t left = 0;
    char text[160];
    const size_t metrics = all || opt_verbose ? SIZE_MAX : 3; /* the others few ask for */
    table_init(&t, 0);
    t.keys = 2;
    t.left = all || opt_verbose ? NULL : &left;
    TABLE_WORDS(&t, "mechanism", "policy");
    for (const struct metric *m = compare_metrics; m->name && (size_t)(m - compare_metrics) < metrics; m++) {
        table_cell(&t, "%s", metric_label(m->name, text, sizeof text));
        if (m == compare_metrics)
            table_cell(&t, "of best");
        if (m == compare_metrics && result->drawn)
            table_cell(&t, "wins");
    }
    t.columns = t.count;
    for (size_t i = 0; i < view->count; i++) {
        const size_t r = view->rows[i];
        const struct compare_row *row = &result->rows[r];
        TABLE_WORDS(&t, compare_mechanisms[row->mechanism], row->policy);
        for (size_t m = 0; m < row->outcome.count && m < metrics; m++) {
            table_cell(&t, "%s", metric_text(&compare_metrics[m], &row->outcome.values[m], text, sizeof text));
            if (m == 0)
                table_cell(&t, "%s", compare_of_best(view->verdict, result->count, r, text, sizeof text));
            if (m == 0 && r < result->drawn)
                table_cell(&t, "%u of %u", result->robust.wins[r], result->robust.draws);
            else if (m == 0 && result->drawn)
                table_cell(&t, "n/a");
        }
    }
    table_print(&t, to);
    table_release(&t);
}

static void print_head(const struct view *view, FILE *to)
{
    const struct compare_result *result = view->result;
    printable_print(to, "%s\n", view->verdict->verdict.say);
    const struct metric_value *moved = result->count ? &result->rows[0].outcome.values[1] : NULL;
    const double bytes = (double)result->footprint_bytes, held = bytes || !moved ? bytes : moved->real;
    static const char *const sections[] = {"gpu", "launch", "uvm", "pcie", "placement", NULL};
    char size[64] = "", text[64], borrowed[256] = "";
    if (held > 0)
        (void)snprintf(size, sizeof size, ", %s%s", units_human_bytes(held, text, sizeof text),
                       bytes ? "" : " to the GPU");
    for (const char *const *name = sections; *name; name++) {
        const struct platform_borrowed *b = platform_borrowed(result->platform, *name);
        const struct platform_borrowed *next = b && name[1] ? platform_borrowed(result->platform, name[1]) : NULL;
        if (b)
            (void)mem_add_text(borrowed, sizeof borrowed, "%s[%s]", *borrowed ? ", " : "; ", *name);
        if (b && (!next || strcmp(next->as, b->as) != 0))
            (void)mem_add_text(borrowed, sizeof borrowed, " of %s", b->as);
    }
    printable_print(to, "%s%s%s%s%s, on %s (%s%s)%s\n", result->recorded, *result->recorded ? " (" : "",
                    result->program, *result->recorded ? ")" : "", size, result->platform->name, result->platform->from,
                    borrowed, result->measured ? "; kernels measured" : "");
    if (*result->size_note && !opt_verbose) /* else among the notes */
        printable_print(to, "%s\n", result->size_note);
    for (size_t i = 0; i < json_array_size(result->limits); i++)
        printable_print(to, "%s\n", json_string_value(json_array_get(result->limits, i)));
}

/* Print what --robust found: for the best row, and for others that win anywhere. */
static void print_robust(const struct compare_result *result, char (*names)[COMPARE_NAME], FILE *to)
{
    for (size_t i = 0; i < result->drawn; i++) {
        char text[1024], flips[1024];
        if (i == 0 || result->robust.wins[i] || robust_say_flips(&result->robust, i, flips, sizeof flips)[0])
            printable_print(to, "%s: %s\n", names[i], robust_say(&result->robust, i, text, sizeof text));
    }
}

enum { LINE = 76, ROOM_MOST = 2 * LINE };
static size_t pick_room = ROOM_MOST; /* bytes for how to have the row to take */

/* How to have the row that the answer names, in a few lines. */
static void print_pick(const struct view *view, FILE *to)
{
    const struct compare_verdict *v = view->verdict;
    const struct compare_row *row = &view->result->rows[v->verdict.pick];
    char text[4096], more[] = " .. (--top 1 says all)";
    size_t n = (size_t)snprintf(text, sizeof text, "%s", v->names[v->verdict.pick]);
    for (size_t a = 0; a < row->apply_count && n < sizeof text; a++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", a ? "; " : ": ", row->apply[a]);
    if (n > pick_room) {
        n = pick_room - sizeof more;
        while (n > 0 && text[n] != ' ')
            n--;
        (void)snprintf(text + n, sizeof text - n, "%s", more);
    }
    printable_print(to, "%s\n", text);
}

/* Print how to have the best row of each of the best mechanisms, and what to run. */
static void print_top(const struct compare_result *result, FILE *to)
{
    size_t rows[COMPARE_MECHANISMS], n = compare_best_rows(result, (size_t)top, rows);
    for (size_t i = 0; i < n; i++) {
        const struct compare_row *row = &result->rows[rows[i]];
        struct compare_experiment x;
        char text[4096];
        printable_print(to, "%s (%s):\n", compare_mechanisms[row->mechanism], row->policy);
        for (size_t a = 0; a < row->apply_count; a++)
            printable_print(to, "    %s\n", row->apply[a]);
        if (!compare_experiment(result, rows[i], &x))
            continue;
        (void)compare_experiment_say(result, &x, text, sizeof text);
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
            printable_print(to, "    > %.*s\n", (int)strcspn(line, "\n"), line);
    }
}

static bool has_time(const struct noted *run)
{
    const struct metric_value *time = &run->outcome->values[0];
    return time->known || time->interval || time->lower_bound;
}

static const struct compare_verdict *judged;
static size_t notes_most = 4, notes_said; /* without --verbose */

/* Whether a note changes how the table is read: why a mechanism has no row in it, what may be gained at all. */
static bool matters(const struct noted *runs, size_t n, size_t run, const char *note)
{
    const size_t word = strcspn(runs[run].name, " ");
    bool missing = strncmp(runs[run].name, compare_mechanisms[COMPARE_TIERED], word) != 0; /* needs a gather */
    bool copied = false; /* has a time: that says more than a ceiling */
    for (size_t i = 0; i < n; i++) {
        missing &= strncmp(runs[i].name, runs[run].name, word) != 0 || !has_time(&runs[i]);
        copied |= strncmp(runs[i].name, compare_mechanisms[COMPARE_COPY], 4) == 0 && has_time(&runs[i]);
    }
    missing |= strncmp(note, "fault service covers", 20) == 0 && !copied;
    missing |= judged->answers[run].wins && strncmp(note, COMPARE_LOCKED, strlen(COMPARE_LOCKED)) == 0;
    missing |= strncmp(note, COMPARE_TRACED, strlen(COMPARE_TRACED)) == 0;
    missing |= strncmp(note, COMPARE_COPIED, strlen(COMPARE_COPIED)) == 0;
    return opt_verbose || (missing && notes_said++ < notes_most);
}

static void print_below(const struct view *view, FILE *to)
{
    notes_said = 0;
    print_robust(view->result, view->verdict->names, to);
    if (top)
        print_top(view->result, to);
    else if (view->verdict->verdict.pick < view->result->count)
        print_pick(view, to);
    else if (view->verdict->verdict.tied && *view->result->touches)
        printable_print(to, "what decides: %s\n", view->result->touches);
    const size_t rows = view->result->count - view->count;
    const size_t notes = notes_print_all(to, view->noted, view->result->count, matters);
    if (!all && !opt_verbose)
        printable_print(to, "left out: %zu row%s (--all prints them and more columns), %zu note%s (-v)\n", rows,
                        rows == 1 ? "" : "s", notes, notes == 1 ? "" : "s");
}

/* Choose the best row, its ties, the best of each other mechanism, the program as it is, and a bound that is less. */
static void choose_rows(struct view *view)
{
    enum { TIED = 4 };
    const struct compare_verdict *v = view->verdict;
    bool seen[COMPARE_MECHANISMS] = {false};
    size_t tied = 0;
    for (size_t i = 0; i < view->result->count; i++) {
        const struct compare_row *row = &view->result->rows[i];
        const struct verdict_answer *a = &v->answers[i];
        const bool stands = a->value.state == ROBUST_STANDS && *a->text != '>';
        const bool first = !seen[row->mechanism] && row->mechanism != COMPARE_MIXED && stands;
        const bool bound =
            a->left_out && v->verdict.pick < view->result->count && a->value.lo < v->answers[v->verdict.pick].value.lo;
        if (all || opt_verbose || first || bound || (stands && compare_as_it_is(row)) || i == v->verdict.pick ||
            i == v->verdict.next || (a->wins && tied < TIED)) {
            view->rows[view->count++] = i;
            seen[row->mechanism] = true;
            tied += a->wins;
        }
    }
}

/* Rows give way in this order, the last of a kind first; never the one to take. */
enum gives_way { ROWS_NOT_NAMED, ROW_AS_IT_IS, ROWS_NAMED };

static bool drop_row(struct view *view, enum gives_way kind)
{
    const struct compare_verdict *v = view->verdict;
    for (size_t i = view->count; i-- > 0;) {
        const size_t row = view->rows[i];
        const enum gives_way of = row == v->verdict.next || v->answers[row].wins ? ROWS_NAMED
                                  : compare_as_it_is(&view->result->rows[row])   ? ROW_AS_IT_IS
                                                                                 : ROWS_NOT_NAMED;
        if (row != v->verdict.pick && of == kind) {
            memmove(&view->rows[i], &view->rows[i + 1], (--view->count - i) * sizeof *view->rows);
            return true;
        }
    }
    return false;
}

/* Without options all fits a dozen lines: words of how to give way, then rows that the answer does not name, then
 * notes. */
static bool drop(struct view *view)
{
    if (pick_room > LINE) {
        pick_room = LINE;
        return true;
    }
    if (drop_row(view, ROWS_NOT_NAMED))
        return true;
    if (notes_most) {
        notes_most--;
        return true;
    }
    return drop_row(view, ROW_AS_IT_IS) || drop_row(view, ROWS_NAMED);
}

static size_t lines_of(const struct view *view, void (*print)(const struct view *view, FILE *to))
{
    char *text = NULL;
    size_t bytes = 0, lines = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (to)
        print(view, to);
    if (!to || fclose(to))
        printable_fail();
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    free(text);
    return lines;
}

static bool fits(const struct view *view)
{
    enum { LINES = 12 };
    return lines_of(view, print_head) + lines_of(view, print_rows) + lines_of(view, print_below) <= LINES;
}

/* What gave way first has what room is left. */
static void fit(struct view *view)
{
    while (!fits(view) && drop(view))
        ;
    const size_t had = pick_room;
    pick_room = ROOM_MOST;
    if (!fits(view))
        pick_room = had;
}

static void print_table(const struct compare_result *result, const struct compare_verdict *verdict)
{
    struct view view = {result, verdict, mem_zalloc(result->count + 1, sizeof *view.noted, NULL),
                        mem_zalloc(result->count + 1, sizeof *view.rows, NULL), 0};
    for (size_t i = 0; i < result->count && view.noted; i++)
        view.noted[i] = (struct noted){verdict->names[i], &result->rows[i].outcome};
    if (!view.rows || !view.noted) {
        printable_fail();
        return;
    }
    judged = verdict;
    choose_rows(&view);
    if (!all && !opt_verbose && !top && !draws)
        fit(&view);
    print_head(&view, stdout);
    if (view.count)
        print_rows(&view, stdout);
    print_below(&view, stdout);
    free(view.rows);
    free(view.noted);
}

static void print_csv(const struct compare_result *result)
{
    struct table t;
    table_init(&t, 0);
    TABLE_WORDS(&t, "mechanism", "policy");
    for (const struct metric *m = compare_metrics; m->name; m++)
        table_head(&t, m->name, true);
    const size_t few = t.count;
    TABLE_WORDS(&t, "unbound", "limits");
    t.columns = t.count;
    for (size_t i = 0; i < result->count; i++) {
        const struct compare_row *row = &result->rows[i];
        TABLE_WORDS(&t, compare_mechanisms[row->mechanism], row->policy);
        for (size_t m = 0; m < row->outcome.count; m++) {
            const struct metric_value *v = &row->outcome.values[m];
            table_real(&t, v->known, v->real);
            table_real(&t, v->interval || v->lower_bound, v->lo);
            table_real(&t, v->interval, v->hi);
        }
        table_estimates(&t, &row->outcome);
        table_joined(&t, result->limits ? json_incref(result->limits) : json_array(), "; ");
    }
    table_leave_out_empty(&t, few, few + 2);
    table_finish(&t, true);
}

static int print(const struct compare_result *result)
{
    struct err err = {""};
    struct compare_verdict verdict;
    if (format == FORMAT_JSON) {
        json_t *root = compare_to_json(result, &err);
        return root ? cmd_print_json(root) : cmd_fail(EXIT_DATA, "%s", err.msg);
    }
    if (format == FORMAT_CSV) {
        print_csv(result);
        return EXIT_DONE;
    }
    if (compare_verdict(result, &verdict, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    print_table(result, &verdict);
    compare_verdict_release(&verdict);
    return EXIT_DONE;
}

/* Each file is made whole or not at all. */
static int write_plan(const struct compare_result *result)
{
    struct err err = {""};
    struct output file;
    if (output_open(&file, output, force, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    int rc = compare_plan_write(result, file.file, &err);
    if (output_close(&file, rc, rc ? NULL : &err) || rc)
        return cmd_fail(rc ? EXIT_NOTHING : EXIT_DATA, "%s", err.msg);
    cmd_say("wrote %s: %s (%s)", output, compare_mechanisms[compare_plannable(result)->mechanism],
            compare_plannable(result)->policy);
    return EXIT_DONE;
}

static int write_html(const struct compare_request *request, const struct compare_result *result)
{
    struct err err = {""};
    struct output file;
    if (output_open(&file, html, force, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    const struct decision decision = {request, result, cmd_line(), offchip_version, json_array()};
    int rc = decision_write(&decision, file.file, &err) ? err_at(&err, "cannot write '%s'", html) : 0;
    cmd_say_notes(decision.missing);
    json_decref(decision.missing);
    if (output_close(&file, rc, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    cmd_say("wrote %s", html);
    return EXIT_DONE;
}

/* A signal may come once the file is there. */
static void say_opened(const char *path)
{
    cmd_on_signal_say("offchip: %s keeps the rows that were written; the same command goes on from there\n", path);
}

/* Write the results before printing. */
static int conclude(const struct compare_request *request, const struct compare_result *result)
{
    int status = html ? write_html(request, result) : EXIT_DONE;
    if (!status && plan)
        status = write_plan(result);
    const int printed = print(result);
    if (output && !plan)
        cmd_say("%zu rows run, %zu found finished in %s", result->count - result->resumed_rows, result->resumed_rows,
                output);
    status = status ? status : printed;
    return !status && (!result->count || !result->rows[0].answered) ? EXIT_NOTHING : status;
}

static int run(int argc, char **argv)
{
    lines_at_most(LINES_COLUMNS);
    if (argc != 1)
        return cmd_usage("one input is needed: a trace file or synth:PROGRAM[,key=value]; found %d", argc);
    cmd_reads(argv[0]);
    cmd_reads(platform);
    const char *dot = output ? strrchr(output, '.') : NULL;
    plan = dot && strcmp(dot, ".ini") == 0;
    int writable = !output ? EXIT_DONE : plan || force ? cmd_writes(output, force) : cmd_adds_to(output);
    if (!writable && html)
        writable = cmd_writes(html, force);
    if (writable)
        return writable;
    struct progress progress = {.names = compare_mechanisms};
    struct compare_request request = {.spec = argv[0],
                                      .platform = platform,
                                      .sets = sets.items,
                                      .set_count = sets.count,
                                      .all = all,
                                      .mixed = mixed,
                                      .stop_from = whole ? 0 : COMPARE_STOP_FROM,
                                      .repeats_from = whole || plan ? 0 : COMPARE_REPEATS_FROM,
                                      .top = (size_t)top,
                                      .threads = cmd_threads(jobs),
                                      .draws = (uint32_t)draws,
                                      .results = plan ? NULL : output,
                                      .replace = force,
                                      .on_results_open = say_opened,
                                      .progress = &progress};
    struct compare_result result;
    struct err err = {""};
    bool usage = false;
    struct progress_line *meter = progress_line_start(&progress, "compare");
    int rc = compare_run(&request, &result, &usage, &err);
    progress_line_stop(meter);
    cmd_on_signal_say("%s", "");
    if (rc)
        return usage ? cmd_usage("%s", err.msg) : cmd_fail(EXIT_DATA, "%s", err.msg);
    int status = conclude(&request, &result);
    compare_release(&result);
    return status;
}

const struct command cmd_compare = {
    .name = "compare",
    .summary = "say how a program's data should reach the GPU: every mechanism, the best first",
    .usage = "INPUT [OPTIONS]",
    .details = "INPUT is synth:PROGRAM[,key=value...] ('offchip list programs') or a recording. Mechanisms: explicit "
               "copies, unified memory by prefetcher and advice, zero-copy by access pattern, and rows kept on the "
               "GPU. Rows whose times differ by less than their models' measured errors are the same.",
    .examples = "  offchip compare synth:conv2d,bytes=256MiB --platform h200\n"
                "  offchip compare app.db\n"
                "  offchip compare synth:bfs,scale=16,roots=1 --set oversubscription_pct=150 --top 2",
    .options = options,
    .run = run,
};
