/* offchip compare: one program on one machine under every mechanism, ranked. */
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "cmd/console/progress_line.h"
#include "cmd/console/table.h"
#include "replay/compare/compare.h"
#include "replay/report/report.h"
#include "replay/run/robust.h"
#include "trace/base/version.h"
#include "trace/derived/limits.h"
#include "trace/store/output.h"

static const char *platform, *output, *html;
static struct opt_list sets;
static int64_t draws, jobs, top;
static bool all, mixed, whole, force, plan; /* plan: the output is one */
static int format;

static const struct opt options[] = {
    OPT("platform", 'P', OPT_TEXT, "NAME|FILE.ini", &platform,
        "hardware numbers (default: of the GPU that a recording names, else h200)"),
    OPT("set", 's', OPT_LIST, "KEY=VALUE", &sets,
        "oversubscription_pct, gpu_memory_bytes, or a number of the platform; repeatable"),
    OPT("all", 'a', OPT_FLAG, NULL, &all, "unified memory under every prefetcher with every eviction"),
    OPT("mixed", 0, OPT_FLAG, NULL, &mixed,
        "look for a mechanism for each allocation with room for all too, and above 256 MiB"),
    OPT("whole", 0, OPT_FLAG, NULL, &whole,
        "run every row to its end: of programs of more than 256 MiB those over 3 times the best are stopped"),
    OPT_ROBUST(&draws),
    {"top", 0, OPT_INT, "N", &top,
     "say how to have the N best mechanisms, and what to run of each on the machine itself", 0, COMPARE_MECHANISMS},
    OPT("output", 'o', OPT_TEXT, "RESULTS|PLAN.ini", &output,
        "results file; rows that stand in it are not run again. PLAN.ini: the best answer of unified memory as a plan "
        "for "
        "record --apply"),
    OPT("html", 0, OPT_TEXT, "OUT", &html, "write the decision as one self-contained HTML page"),
    OPT("force", 'f', OPT_FLAG, NULL, &force, "replace RESULTS, PLAN.ini or OUT"),
    {"jobs", 'j', OPT_INT, "N", &jobs, "threads (default: all processors)", 1, 4096},
    OPT_FORMAT(&format),
    {0}};

static double time_of(const struct compare_row *row)
{
    const struct metric_value *v = outcome_get(&row->outcome, "time_ns");
    return v->known ? v->real : v->interval ? (v->lo + v->hi) / 2 : 0;
}

static void print_rows(const struct compare_result *result)
{
    struct table t;
    table_init(&t, 0);
    t.keys = 2;
    TABLE_WORDS(&t, "mechanism", "policy");
    for (const struct metric *m = compare_metrics; m->name; m++) {
        char label[80];
        table_cell(&t, "%s", metric_label(m->name, label, sizeof label));
        if (m == compare_metrics)
            table_cell(&t, "of best");
        if (m == compare_metrics && result->drawn)
            table_cell(&t, "wins");
    }
    t.columns = t.count;
    for (size_t i = 0; i < result->count; i++) {
        const struct compare_row *row = &result->rows[i];
        TABLE_WORDS(&t, compare_mechanisms[row->mechanism], row->policy);
        for (size_t m = 0; m < row->outcome.count; m++) {
            char buf[160];
            table_cell(&t, "%s", table_metric(&compare_metrics[m], &row->outcome.values[m], buf, sizeof buf));
            if (m == 0 && row->answered)
                table_cell(&t, "%.2f", time_of(row) / time_of(&result->rows[0]));
            else if (m == 0 && row->outcome.values[m].lower_bound &&
                     row->outcome.values[m].lo >= COMPARE_NEAR * time_of(&result->rows[0]))
                table_cell(&t, "over %d", COMPARE_NEAR);
            else if (m == 0)
                table_cell(&t, "n/a");
            if (m == 0 && i < result->drawn)
                table_cell(&t, "%u of %u", result->robust.wins[i], result->robust.draws);
            else if (m == 0 && result->drawn)
                table_cell(&t, "n/a");
        }
    }
    table_finish(&t, false);
}

/* What the order rests on: the best row, and others that win anywhere. */
static void print_robust(const struct compare_result *result)
{
    for (size_t i = 0; i < result->drawn; i++) {
        char text[1024], flips[1024];
        if (i == 0 || result->robust.wins[i] || robust_say_flips(&result->robust, i, flips, sizeof flips)[0])
            printable_print(stdout, "%s (%s): %s\n", compare_mechanisms[result->rows[i].mechanism],
                            result->rows[i].policy, robust_say(&result->robust, i, text, sizeof text));
    }
}

/* How to have the best row of each of the best mechanisms; where that was asked for what to run of it. */
static void print_how(const struct compare_result *result)
{
    size_t rows[COMPARE_MECHANISMS], n = compare_best_rows(result, top ? (size_t)top : 1, rows);
    for (size_t i = 0; i < n; i++) {
        const struct compare_row *row = &result->rows[rows[i]];
        struct compare_experiment x;
        char text[4096];
        printable_print(stdout, "%s (%s):\n", compare_mechanisms[row->mechanism], row->policy);
        for (size_t a = 0; a < row->apply_count; a++)
            printable_print(stdout, "    %s\n", row->apply[a]);
        if (!top || !compare_experiment(result, rows[i], &x))
            continue;
        (void)compare_experiment_say(result, &x, text, sizeof text);
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
            printable_print(stdout, "    > %.*s\n", (int)strcspn(line, "\n"), line);
    }
}

/* Each note once: whose it is, or of how many rows. */
static void print_notes(const struct compare_result *result)
{
    for (size_t i = 0; i < result->count; i++) {
        const struct compare_row *row = &result->rows[i];
        for (size_t n = 0; n < row->outcome.note_count; n++) {
            size_t first = 0, rows = 0;
            if (limits_note(row->outcome.notes[n])) /* said above */
                continue;
            while (!outcome_has_note(&result->rows[first].outcome, row->outcome.notes[n]))
                first++;
            for (size_t k = i; k < result->count; k++)
                rows += outcome_has_note(&result->rows[k].outcome, row->outcome.notes[n]);
            char whose[300];
            if (first == i && rows > 1)
                (void)snprintf(whose, sizeof whose, "%s, %zu rows", compare_mechanisms[row->mechanism], rows);
            else
                (void)snprintf(whose, sizeof whose, "%s (%s)", compare_mechanisms[row->mechanism], row->policy);
            if (first == i)
                notes_print(whose, row->outcome.notes[n]);
        }
    }
    notes_say_cut();
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
    char answer[512];
    if (format == FORMAT_JSON) {
        json_t *root = compare_to_json(result, &err);
        return root ? cmd_print_json(root) : cmd_fail(EXIT_DATA, "%s", err.msg);
    }
    if (format == FORMAT_CSV) {
        print_csv(result);
        return EXIT_DONE;
    }
    printable_print(stdout, "%s on %s (%s), %.4g MiB\n", result->program, result->platform->name,
                    result->platform->from, (double)result->footprint_bytes / 0x1p20);
    printable_print(stdout, "%s\n", compare_answer(result, answer, sizeof answer));
    for (size_t i = 0; i < json_array_size(result->limits); i++)
        printable_print(stdout, "%s\n", json_string_value(json_array_get(result->limits, i)));
    print_rows(result);
    print_robust(result);
    print_how(result);
    print_notes(result);
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
        return cmd_fail(EXIT_DATA, "%s", err.msg);
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

/* What is kept is written before it is printed. */
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
    struct progress progress = {0};
    struct compare_request request = {.spec = argv[0],
                                      .platform = platform,
                                      .sets = sets.items,
                                      .set_count = sets.count,
                                      .all = all,
                                      .mixed = mixed,
                                      .stop_from = whole ? 0 : COMPARE_STOP_FROM,
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
    .summary = "one program on one machine under every mechanism, ranked",
    .usage = "INPUT [--platform NAME|FILE.ini] [--set KEY=VALUE]... [--all] [--mixed] [--whole] [--robust N] [--top N] "
             "[-o RESULTS|PLAN.ini] [--html OUT]",
    .details = "Explicit copies, unified memory under each prefetcher with and without advice, zero-copy under each\n"
               "access pattern, and on chips that share their memory device, managed and pinned memory: time, bytes\n"
               "over the link, GPU memory, and what to change in the program. INPUT is synth:PROGRAM[,key=value...],\n"
               "a recording of accesses or touches, or of migrations (unified memory alone then has answers).\n"
               "Rows whose times differ by less than their models' measured errors are tied.",
    .examples =
        "  offchip compare synth:conv2d,bytes=256MiB --platform h200\n"
        "  offchip compare synth:bfs,scale=16,roots=1 --platform h200 --set oversubscription_pct=150 --top 2\n"
        "  offchip compare synth:triad,bytes=64MiB -o r.db          # then: offchip report r.db\n"
        "  offchip compare synth:triad,bytes=64MiB -o plan.ini      # then: offchip record --apply plan.ini -- ./triad",
    .options = options,
    .run = run,
};
