/* offchip replay: run an engine over an input under a list of policies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "cmd/console/progress_line.h"
#include "cmd/console/table.h"
#include "replay/dram/dram.h"
#include "replay/results/runs.h"
#include "replay/run/platform_use.h"
#include "replay/run/save.h"
#include "replay/run/verdict.h"
#include "replay/uvm/uvm_managed.h"
#include "trace/base/mem.h"
#include "trace/derived/limits.h"

static const char *policy, *platform, *baseline, *output, *requests, *command_log, *recording, *touches;
static struct opt_list sets, mems, pims;
static int64_t draws, explain, jobs;
static bool all, force;
static int format;

static const struct opt options[] = {
    OPT_GROUP("What runs"),
    OPT("policy", 'p', OPT_JOIN, "LIST", &policy,
        "policies, by comma; NAME:key=value,.. sets parameters, NAME+NAME joins prefetch and eviction"),
    OPT("baseline", 'b', OPT_TEXT, "POLICY", &baseline, "what speed-ups are relative to (default: the first policy)"),
    OPT_ROBUST(&draws),
    {"jobs", 'j', OPT_INT, "N", &jobs, "threads (default: all processors)", 1, 4096},
    OPT_GROUP("Machine"),
    OPT("platform", 'P', OPT_TEXT, "NAME|FILE.ini", &platform,
        "hardware numbers (default: of the GPU that a recording names, else the engine's)"),
    OPT("set", 's', OPT_LIST, "KEY=VALUE", &sets,
        "a setting of the engine ('offchip list settings') or a number of the platform; repeatable"),
    OPT_GROUP("More inputs"),
    OPT("mem", 0, OPT_LIST, "INPUT", &mems, "dram: a stream of GPU memory requests; repeatable"),
    OPT("pim", 0, OPT_LIST, "INPUT", &pims, "dram: a stream of PIM requests; repeatable"),
    OPT("touches", 0, OPT_TEXT, "FILE", &touches, "uvm: page touches of the same program, beside a recording"),
    OPT_GROUP("Output"),
    OPT_FORMAT(&format),
    OPT("all", 'a', OPT_FLAG, NULL, &all, "every metric in the table, those that are n/a too"),
    OPT("output", 'o', OPT_TEXT, "RESULTS", &output, "also add the runs to a results file"),
    OPT("requests", 0, OPT_TEXT, "FILE", &requests,
        "CSV of every request and its times (dram) or every launch (zerocopy)"),
    OPT("commands", 0, OPT_TEXT, "FILE", &command_log, "dram: CSV of every command to the memory, for one policy"),
    OPT("recording", 0, OPT_TEXT, "FILE.csv|FILE.db", &recording,
        "uvm: write what a recorder would have seen of the run, for one policy"),
    {"explain", 0, OPT_INT, "N", &explain, "dram: say on stderr why each of the first N commands was chosen", 0,
     INT64_MAX},
    OPT("force", 'f', OPT_FLAG, NULL, &force, "overwrite the FILE of --requests, --commands and --recording"),
    {0}};

static bool has_role(const struct engine *engine, const char *role)
{
    for (size_t i = 0; engine->roles && engine->roles[i]; i++)
        if (strcmp(engine->roles[i], role) == 0)
            return true;
    return false;
}

static size_t runs_of(const struct replay_result *result)
{
    return result->policy_count + result->extra_baseline;
}

/* Whether a note begins as one of another run does, numbers aside, that says something else: each policy has its own.
 */
static bool is_one_for_each(const struct noted *runs, size_t n, size_t run, const char *note)
{
    enum { KIND = 8 };
    static const char numbers[] = "0123456789., ";
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; i != run && k < runs[i].outcome->note_count; k++) {
            const char *other = runs[i].outcome->notes[k];
            if (!outcome_has_note(runs[run].outcome, other) &&
                strncmp(other + strspn(other, numbers), note + strspn(note, numbers), KIND) == 0)
                return true;
        }
    return false;
}

/* Whether a note is printed unasked: one of all policies, or of one policy if it says why a number is missing or
 * warns. */
static bool matters(const struct noted *runs, size_t n, size_t run, const char *note)
{
    const struct outcome *o = runs[run].outcome;
    bool known = false, shared = true;
    for (size_t i = 0; i < n; i++)
        shared &= outcome_has_note(runs[i].outcome, note);
    for (size_t m = 0; m < o->count; m++)
        known |= o->values[m].known || o->values[m].interval || o->values[m].lower_bound;
    return opt_verbose || draws || !known || shared || run_warning(note) || !is_one_for_each(runs, n, run, note);
}

static bool is_part(const struct outcome *run)
{
    for (size_t i = 0; i < run->note_count; i++)
        if (verdict_part_note(run->notes[i]))
            return true;
    return false;
}

/* The answer, where several policies were asked. */
static void print_answer(const struct replay_result *result, const struct noted *runs, size_t n)
{
    struct verdict_answer *answers = mem_zalloc(n, sizeof *answers, NULL);
    struct verdict verdict = {.say = "No answer: no policy has a number here.",
                              .draws = result->robustness ? &result->robustness->robust : NULL};
    const size_t m = replay_decides(result, &verdict.more_is_better);
    const bool time = m < SIZE_MAX && strcmp(result->engine->metrics[m].name, "time_ns") == 0;
    bool whole = false;
    for (size_t i = 0; i < n; i++)
        whole |= !is_part(runs[i].outcome);
    for (size_t i = 0; answers && m < SIZE_MAX && i < n; i++) {
        answers[i].name = runs[i].name;
        answers[i].simple = engine_simplicity(result->engine, runs[i].name);
        answers[i].unlike = engine_unlike(result->engine, runs[i].name);
        verdict.metric = &result->engine->metrics[m];
        verdict_take(&verdict, &answers[i], &result->runs[i].values[m], time ? replay_robust_error(result, i) : 0);
        if (time && whole && is_part(runs[i].outcome))
            verdict_leave_out(&answers[i]);
    }
    if (!answers)
        printable_fail();
    else if (verdict.metric)
        verdict_make(&verdict, answers, n);
    printable_print(stdout, "%s\n", verdict.say);
    free(answers);
}

static void table_row(struct table *t, const struct replay_result *result, size_t m)
{
    const struct metric *metric = &result->engine->metrics[m];
    char buf[160];
    table_cell(t, "%s", metric_label(metric->name, buf, sizeof buf));
    for (size_t i = 0; i < runs_of(result); i++)
        table_cell(t, "%s", metric_text(metric, &result->runs[i].values[m], buf, sizeof buf));
}

/* Add the metrics that the engine's question asks for and some run knows; if none does, those asked for. */
static void table_rows(struct table *t, const struct replay_result *result, struct left_out *left)
{
    const struct metric *metrics = result->engine->metrics;
    bool answer = false;
    for (size_t m = 0; m < result->runs[0].count; m++)
        answer |= engine_shows(result->engine, metrics[m].name) && replay_knows(result, m);
    for (size_t m = 0; m < result->runs[0].count; m++) {
        const bool known = replay_knows(result, m);
        if (all || (engine_shows(result->engine, metrics[m].name) && (known || !answer)))
            table_row(t, result, m);
        else
            left_out_add(left, known);
    }
}

/* "58 of 64"; no row without --robust. */
static void table_wins(struct table *t, const struct replay_result *result, size_t runs)
{
    if (!result->robustness)
        return;
    const struct robust *r = &result->robustness->robust;
    table_cell(t, "wins");
    for (size_t i = 0; i < runs; i++)
        if (i < r->answers)
            table_cell(t, "%u of %u", r->wins[i], r->draws);
        else
            table_cell(t, "n/a");
}

static void print_table(const struct replay_result *result)
{
    const size_t runs = runs_of(result);
    char text[1024], (*names)[256] = mem_zalloc(runs, sizeof *names, NULL);
    struct noted *noted = mem_zalloc(runs, sizeof *noted, NULL);
    json_t *limits = outcome_notes_of(&result->runs[0], limits_note), *line;
    size_t n;
    struct table t;
    struct left_out left = {0};
    if (!names || !noted) {
        printable_fail();
        return;
    }
    for (size_t i = 0; i < runs; i++)
        noted[i] =
            (struct noted){replay_policy_label(&result->policies[i], names[i], sizeof names[i]), &result->runs[i]};
    if (runs > 1)
        print_answer(result, noted, runs);
    printable_print(stdout, "%s\n", platform_use_head(result, text, sizeof text));
    json_array_foreach(limits, n, line) printable_print(stdout, "%s\n", json_string_value(line));
    json_decref(limits);
    table_init(&t, runs + 1);
    table_cell(&t, "metric");
    for (size_t i = 0; i < runs; i++)
        table_cell(&t, "%s%s%s", names[i], i == result->policy_count ? " (baseline)" : "",
                   result->runs[i].slower ? " (slower)" : "");
    table_rows(&t, result, &left);
    table_wins(&t, result, runs);
    table_finish(&t, false);
    left_out_say(&left, "under every policy");
    const size_t notes = notes_print_all(stdout, noted, runs, matters);
    if (notes)
        printable_print(stdout, "left out: %zu note%s on single policies (-v)\n", notes, notes == 1 ? "" : "s");
    free(names);
    free(noted);
}

static bool any_interval(const struct replay_result *result, size_t metric)
{
    for (size_t i = 0; i < result->policy_count; i++)
        if (result->runs[i].values[metric].interval)
            return true;
    return false;
}

/* Add columns of the runs' platform after the metrics. */
static void csv_platform(struct table *t, const struct replay_result *result)
{
    struct platform_use use;
    platform_use_count(result->platform, result->sections, &use);
    TABLE_WORDS(t, result->platform->name, result->platform->from);
    table_cell(t, "%zu", use.numbers);
    table_cell(t, "%zu", use.kinds[PLATFORM_ASSUMED]);
    table_cell(t, "%zu", use.kinds[PLATFORM_FITTED]);
    table_cell(t, "%zu", use.kinds[PLATFORM_AS]);
}

static void print_csv(const struct replay_result *result)
{
    struct table t;
    table_init(&t, 0);
    table_cell(&t, "policy");
    for (size_t m = 0; m < result->runs[0].count; m++)
        table_head(&t, result->engine->metrics[m].name, any_interval(result, m));
    const size_t few = t.count;
    TABLE_WORDS(&t, "unbound", "limits", "warning");
    TABLE_WORDS(&t, "platform", "platform_from", "platform_numbers", "platform_assumed", "platform_fitted",
                "platform_borrowed");
    if (result->robustness)
        TABLE_WORDS(&t, "robust_draws", "robust_wins", "robust_ties", "robust_flips");
    t.columns = t.count;
    for (size_t i = 0; i < result->policy_count; i++) {
        char text[900];
        table_cell(&t, "%s", replay_policy_label(&result->policies[i], text, 256));
        for (size_t m = 0; m < result->runs[0].count; m++)
            table_exact(&t, &result->engine->metrics[m], &result->runs[i].values[m], any_interval(result, m));
        table_estimates(&t, &result->runs[i]);
        table_joined(&t, outcome_notes_of(&result->runs[i], limits_note), "; ");
        table_joined(&t, outcome_notes_of(&result->runs[i], run_warning), " | ");
        csv_platform(&t, result);
        if (!result->robustness)
            continue;
        const struct robust *r = &result->robustness->robust;
        table_cell(&t, "%u", r->draws);
        table_cell(&t, "%u", r->wins[i]);
        table_cell(&t, "%u", r->ties[i]);
        table_cell(&t, "%s", robust_say_flips(r, i, text, sizeof text));
    }
    table_leave_out_empty(&t, few, few + 3);
    table_finish(&t, true);
}

static int print(const struct replay_result *result, const struct replay_request *request)
{
    struct err err = {""};
    if (format == FORMAT_JSON) {
        json_t *root = replay_to_json(result, request, &err);
        return root ? cmd_print_json(root) : cmd_fail(EXIT_DATA, "%s", err.msg);
    }
    (format == FORMAT_CSV ? print_csv : print_table)(result);
    return EXIT_DONE;
}

/* Save to a new file, or in one transaction to an existing one: others may add to it at the same time. */
static int save(const struct replay_request *request, const struct replay_result *result, struct err *err)
{
    bool there = access(output, F_OK) == 0;
    struct results *results = results_open(output, there ? RESULTS_APPEND : RESULTS_CREATE, err);
    int rc = results ? replay_save(results, request, result, -1, err) : -1;
    if (rc == 0)
        rc = results_finish(results, err);
    results_close(results);
    if (rc && !there && access(output, F_OK) == 0) /* somebody else made it at the same moment */
        return save(request, result, err);
    if (rc == 0)
        cmd_say("added %zu runs to %s", result->policy_count + result->extra_baseline, output);
    return rc;
}

/* Whether one of the listed policies has something: refused ones have notes only. */
static bool answered(const struct replay_result *result)
{
    for (size_t i = 0; i < result->policy_count; i++)
        for (size_t m = 0; m < result->runs[i].count; m++)
            if (result->runs[i].values[m].known || result->runs[i].values[m].interval)
                return true;
    return false;
}

/* --- the files that a run fills --- */

enum { REQUESTS, COMMANDS, CSV_FILES };

static const char **const csv_paths[CSV_FILES] = {&requests, &command_log};

static int csv_open(struct output files[CSV_FILES], struct err *err)
{
    for (int i = 0; i < CSV_FILES; i++)
        if (*csv_paths[i] && output_open(&files[i], *csv_paths[i], force, err)) {
            while (i-- > 0)
                if (files[i].file)
                    (void)output_close(&files[i], -1, NULL);
            return -1;
        }
    return 0;
}

/* All of them or, with rc -1, none. */
static int csv_close(struct output files[CSV_FILES], int rc, struct err *err)
{
    for (int i = 0; i < CSV_FILES; i++)
        if (files[i].file && output_close(&files[i], rc, err))
            rc = -1;
    return rc;
}

/* Save, then print: results are kept even if standard output fails. */
static int conclude(const struct replay_request *request, const struct replay_result *result,
                    struct output files[CSV_FILES])
{
    struct err err = {""};
    const bool none = requests && ftello(files[REQUESTS].file) == 0;
    int rc = 0;
    for (int i = 0; i < CSV_FILES && !rc; i++)
        rc = files[i].file ? output_flush(&files[i], &err) : 0;
    if (!rc && output)
        rc = save(request, result, &err);
    if (none) {
        (void)output_close(&files[REQUESTS], -1, NULL);
        files[REQUESTS] = (struct output){0};
    }
    rc = csv_close(files, rc, &err);
    if (!rc && none)
        cmd_say("'%s' is not written: engine %s has no requests of this input", requests, request->engine->name);
    const int status = print(result, request);
    if (rc)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    return !status && !answered(result) ? EXIT_NOTHING : status;
}

/* The output of --recording; close_recording() must follow. */
struct recording_file {
    struct output csv;
    struct uvm_recording_output to;
};

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

static int open_recording(struct recording_file *file, struct err *err)
{
    if (!recording)
        return 0;
    if (ends_in(recording, ".csv")) {
        if (output_open(&file->csv, recording, force, err))
            return -1;
        file->to.csv = file->csv.file;
        return 0;
    }
    file->to.store = store_create(recording, force ? OUTPUT_REPLACE : OUTPUT_NEW, cmd_line(), err);
    return file->to.store ? 0 : -1;
}

/* rc: of what came before; `of`: the trace whose program was simulated, NULL: a generated one. */
static int close_recording(struct recording_file *file, struct store *of, int rc, struct err *err)
{
    if (file->to.csv)
        return output_close(&file->csv, rc, err);
    if (rc == 0 && file->to.store)
        rc = of ? limits_finish(of, file->to.store, err) : store_finish(file->to.store, err);
    store_close(file->to.store);
    return rc;
}

static int replay(const struct engine *engine, const struct input *inputs, size_t count)
{
    struct progress progress = {0};
    struct replay_request request = {.engine = engine,
                                     .platform = platform,
                                     .policy_list = policy,
                                     .baseline = baseline,
                                     .sets = sets.items,
                                     .set_count = sets.count,
                                     .inputs = inputs,
                                     .input_count = count,
                                     .single_policy_option = recording     ? "--recording"
                                                             : command_log ? "--commands"
                                                                           : NULL,
                                     .draws = (uint32_t)draws,
                                     .threads = cmd_threads(jobs),
                                     .progress = &progress};
    struct replay_result result;
    struct err err = {""};
    struct output files[CSV_FILES] = {0};
    struct recording_file recorded = {0};
    bool usage = false;
    if (csv_open(files, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    int rc = open_recording(&recorded, &err);
    request.requests = files[REQUESTS].file;
    const struct dram_options logs = {explain, stderr, files[COMMANDS].file};
    request.engine_options = engine->controllers ? (const void *)&logs : recording ? &recorded.to : NULL;
    struct progress_line *meter = progress_line_start(&progress, "replay");
    if (rc == 0)
        rc = replay_run(&request, &result, &usage, &err);
    progress_line_stop(meter);
    bool ran = rc == 0;
    if (recorded.to.csv || recorded.to.store)
        rc = close_recording(&recorded, inputs[0].store, rc, rc ? NULL : &err);
    if (rc) {
        if (ran)
            replay_release(&result);
        if (requests && ferror(files[REQUESTS].file))
            (void)err_at(&err, "'%s'", requests);
        (void)csv_close(files, rc, NULL);
        return usage ? cmd_usage("%s", err.msg) : cmd_fail(EXIT_DATA, "%s", err.msg);
    }
    int status = conclude(&request, &result, files);
    replay_release(&result);
    return status;
}

/* Find misspellings before making an input, with a platform that no recording chooses. */
static int check_request(const struct engine *engine, bool generated)
{
    const struct replay_request request = {.engine = engine,
                                           .platform = platform,
                                           .policy_list = policy,
                                           .baseline = baseline,
                                           .sets = sets.items,
                                           .set_count = sets.count};
    struct replay_result result;
    struct err err = {""};
    if (!generated && !platform)
        return EXIT_DONE;
    if (replay_prepare(&request, &result, &err))
        return cmd_usage("%s", err.msg);
    replay_release(&result);
    return EXIT_DONE;
}

static int open_inputs(const struct engine *engine, struct input *inputs, size_t *count, int argc, char **argv)
{
    struct err err = {""};
    const size_t groups[] = {(size_t)argc, mems.count, pims.count, touches != NULL};
    static const char *const roles[] = {"", "mem", "pim", "touches"};
    const char *const *const given[] = {(const char *const *)argv, mems.items, pims.items, &touches};
    bool generated = true;
    for (size_t g = 0; g < 4; g++)
        for (size_t i = 0; i < groups[g]; i++) {
            if (input_check(given[g][i], &err))
                return cmd_usage("%s", err.msg);
            generated &= strncmp(given[g][i], "synth:", 6) == 0;
        }
    const int status = check_request(engine, generated);
    for (size_t g = 0; g < 4 && !status; g++)
        for (size_t i = 0; i < groups[g]; i++, ++*count)
            if (input_open(&inputs[*count], given[g][i], roles[g], engine->plain_files, &err))
                return cmd_fail(EXIT_DATA, "%s", err.msg);
    return status;
}

/* Before the work: results are added to a results file only. */
static int check_outputs(int argc, char **argv)
{
    cmd_reads_all((const char *const *)argv, (size_t)argc);
    cmd_reads_all(mems.items, mems.count);
    cmd_reads_all(pims.items, pims.count);
    cmd_reads_all(sets.items, sets.count);
    cmd_reads(platform);
    cmd_reads(touches);
    int status = EXIT_DONE;
    for (int i = 0; i < CSV_FILES && !status; i++)
        if (*csv_paths[i])
            status = cmd_writes(*csv_paths[i], force);
    if (!status && recording)
        status = cmd_writes(recording, force);
    return !status && output ? cmd_adds_to(output) : status;
}

static int run(int argc, char **argv)
{
    lines_at_most(LINES_COLUMNS);
    int status = EXIT_DONE;
    if (argc < 1)
        return cmd_usage("an engine is needed: offchip replay ENGINE INPUT");
    const struct engine *engine = engine_find(argv[0]);
    if (!engine)
        return cmd_no_such("engine", argv[0]);
    size_t total = (size_t)argc - 1 + mems.count + pims.count + (touches != NULL), count = 0;
    if (total == (touches != NULL))
        return cmd_usage("an input is needed: a trace file or synth:WORKLOAD[,key=value]");
    if ((mems.count && !has_role(engine, "mem")) || (pims.count && !has_role(engine, "pim")))
        return cmd_usage("engine %s has no --mem and --pim inputs", engine->name);
    if ((recording || touches) && !engine->recordings)
        return cmd_usage("engine %s has no --recording and --touches", engine->name);
    if (command_log && !engine->controllers)
        return cmd_usage("engine %s has no --commands", engine->name);
    if (command_log && explain)
        return cmd_usage("--explain and --commands tell of the same commands: give one of them");
    if (recording && !ends_in(recording, ".csv") && !ends_in(recording, ".db"))
        return cmd_usage("--recording %s: expected FILE.csv or FILE.db", recording);
    if (!engine->roles && argc > 2)
        return cmd_usage("engine %s takes one input; found %d", engine->name, argc - 1);
    if ((status = check_outputs(argc - 1, argv + 1)))
        return status;
    struct err err = {""};
    struct input *inputs = mem_zalloc(total, sizeof *inputs, &err);
    if (!inputs)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    status = open_inputs(engine, inputs, &count, argc - 1, argv + 1);
    if (status == EXIT_DONE)
        status = replay(engine, inputs, count);
    for (size_t i = 0; i < count; i++)
        input_close(&inputs[i]);
    free(inputs);
    return status;
}

const struct command cmd_replay = {
    .name = "replay",
    .summary = "run one model over a recording or a generated program under several policies",
    .usage = "ENGINE INPUT [OPTIONS]",
    .details = "ENGINE is uvm, zerocopy, dram or placement. INPUT is a trace or synth:PROGRAM[,key=value...] ('offchip "
               "list programs'). What the input does not say is n/a, or between bounds.",
    .examples =
        "  offchip replay uvm synth:bicg,bytes=1GiB --policy tree,fixed,adaptive --set oversubscription_pct=150\n"
        "  offchip replay uvm recording.db --policy tree,none\n"
        "  offchip replay zerocopy synth:bfs,scale=16,roots=1 --policy naive,merged,aligned",
    .options = options,
    .run = run,
};
