/* Whatever a sweep varied, every run is in every report and in every figure, or the command says what it leaves out:
 * random sweeps over every setting, policy, parameter, input, platform and number, made up rather than simulated. */

#include "replay/report/figure_form.h"
#include "replay/report/report.h"
#include "replay/results/testing_runs.h"
#include "replay/run/engine.h"
#include "trace/base/param.h"

enum { SEEDS = 60, AXES = 4, VALUES = 3, POLICIES = 4 };

static uint64_t state;

static size_t below(size_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % n;
}

/* What a sweep varies. */
struct axis {
    const char *name;
    enum { OF_SETTINGS, OF_SPEC, OF_PLATFORM, OF_NUMBERS, OF_FOLDER } of;
    size_t count;
    const struct param *row;
};

struct made {
    const struct engine *engine;
    struct run_set set;
    struct axis axes[AXES];
    size_t axis_count;
    struct {
        const struct policy_head *head;
        json_t *params;
    } policies[POLICIES];
    size_t policy_count;
};

static size_t length(const struct param *table)
{
    size_t n = 0;
    while (table && table[n].name)
        n++;
    return n;
}

/* The n-th value of a row, each different. */
static json_t *value_of(const struct param *row, size_t n)
{
    char text[64];
    if (row->type == PARAM_TEXT || row->type == PARAM_CHOICE) {
        (void)snprintf(text, sizeof text, n % 2 ? "some/where/choice %zu" : "choice%zu", n);
        return json_string(text);
    }
    return row->type == PARAM_REAL ? json_real(row->lo + 0.1 * (double)(n + 1))
                                   : json_integer((json_int_t)(row->lo + (double)n));
}

static void choose(struct made *m, bool folders)
{
    static const char *const specs[] = {"bytes", "graph", "steps", "platform", "mode"};
    m->axis_count = 1 + below(AXES);
    for (size_t a = 0; a < m->axis_count; a++) {
        struct axis *axis = &m->axes[a];
        *axis = (struct axis){.of = (int)below(5), .count = 2 + below(VALUES - 1)};
        if (axis->of == OF_SETTINGS && length(m->engine->settings))
            axis->row = &m->engine->settings[below(length(m->engine->settings))];
        axis->name = axis->row ? axis->row->name : specs[below(5)];
        if (axis->of == OF_SETTINGS && !axis->row)
            axis->of = OF_SPEC;
        for (size_t b = 0; b < a; b++) /* the same thing is varied once */
            if (m->axes[b].of == axis->of && (axis->of >= OF_PLATFORM || strcmp(m->axes[b].name, axis->name) == 0))
                axis->count = 1;
    }
    for (size_t a = 0; a < m->axis_count; a++) /* files have no keys */
        folders = folders && (m->axes[a].of != OF_SPEC || m->axes[a].count == 1);
    for (size_t a = 0; a < m->axis_count && !folders; a++)
        m->axes[a].count = m->axes[a].of == OF_FOLDER ? 1 : m->axes[a].count;
    size_t known = 0;
    while (m->engine->policies[known])
        known++;
    m->policy_count = 1 + below(POLICIES);
    for (size_t p = 0; p < m->policy_count; p++) {
        m->policies[p].head = m->engine->policies[below(known)];
        m->policies[p].params = json_object();
        for (size_t k = 0; k < length(m->policies[p].head->params); k++)
            (void)json_object_set_new(m->policies[p].params, m->policies[p].head->params[k].name,
                                      value_of(&m->policies[p].head->params[k], below(3)));
        for (size_t q = 0; q < p; q++) /* listed twice */
            if (m->policies[q].head == m->policies[p].head &&
                json_equal(m->policies[q].params, m->policies[p].params)) {
                json_decref(m->policies[p].params);
                m->policy_count = p;
                break;
            }
    }
}

static void add_metrics(json_t *metrics, const struct engine *engine, size_t run)
{
    for (const struct metric *row = engine->metrics; row->name; row++)
        if (!strstr(row->name, "alone"))
            (void)json_object_set_new(metrics, row->name,
                                      json_integer(strcmp(row->name, "starved") ? 1000 + (int)run : 0));
}

/* One document: the case at these places of the axes, under every policy. */
static void add_case(struct made *m, const size_t *at, const char *workload)
{
    char spec[400], platform[40] = "p";
    json_t *settings = json_object(), *numbers = json_pack("{s:i}", "gpu.sms", 80), *runs = json_array();
    size_t used = (size_t)snprintf(spec, sizeof spec, "synth:%s", workload);
    for (size_t k = 0; k < length(m->engine->settings); k++)
        (void)json_object_set_new(settings, m->engine->settings[k].name, value_of(&m->engine->settings[k], 0));
    for (size_t a = 0; a < m->axis_count; a++) {
        const struct axis *axis = &m->axes[a];
        if (axis->of == OF_SETTINGS && axis->count > 1)
            (void)json_object_set_new(settings, axis->name, value_of(axis->row, at[a]));
        else if (axis->of == OF_SPEC && axis->count > 1)
            used += (size_t)snprintf(spec + used, sizeof spec - used, ",%s=%s/v%zu", axis->name, at[a] ? "a" : "b",
                                     at[a] / 2);
        else if (axis->of == OF_PLATFORM && axis->count > 1) {
            (void)snprintf(platform, sizeof platform, "p%zu", at[a]);
            (void)json_object_set_new(numbers, "gpu.l2_bytes", json_integer((json_int_t)at[a]));
        } else if (axis->of == OF_NUMBERS && axis->count > 1)
            (void)json_object_set_new(numbers, "uvm.fault_ns", json_integer((json_int_t)at[a]));
    }
    for (size_t a = 0; a < m->axis_count; a++)
        if (m->axes[a].of == OF_FOLDER && m->axes[a].count > 1)
            (void)snprintf(spec, sizeof spec, "folder%zu/kernel.db", at[a]);
    for (size_t p = 0; p < m->policy_count; p++) {
        json_t *metrics = json_object();
        add_metrics(metrics, m->engine, m->set.count + p);
        (void)json_array_append_new(runs, json_pack("{s:s,s:O,s:o}", "policy", m->policies[p].head->name, "params",
                                                    m->policies[p].params, "metrics", metrics));
    }
    testing_add_runs(&m->set, "made",
                     json_pack("{s:s,s:s,s:s,s:O,s:o,s:{s:s,s:[{s:s,s:s}],s:s,s:o,s:o,s:s}}", "engine", m->engine->name,
                               "input", spec, "platform", platform, "settings", settings, "runs", runs, "case",
                               "engine", m->engine->name, "inputs", "role", "", "input", spec, "platform", platform,
                               "numbers", numbers, "settings", settings, "version", "1"));
}

static void make(struct made *m, const struct engine *engine, uint64_t seed, const char *workload)
{
    *m = (struct made){.engine = engine};
    state = seed * 7919 + 17;
    choose(m, strcmp(workload, "kernel") == 0);
    size_t all = 1;
    for (size_t a = 0; a < m->axis_count; a++)
        all *= m->axes[a].count;
    for (size_t n = 0; n < all; n++) {
        size_t at[AXES], rest = n;
        for (size_t a = 0; a < m->axis_count; a++, rest /= m->axes[a - 1].count)
            at[a] = rest % m->axes[a].count;
        add_case(m, at, workload);
    }
}

static void release(struct made *m)
{
    for (size_t p = 0; p < m->policy_count; p++)
        json_decref(m->policies[p].params);
    run_set_release(&m->set);
}

/* How many runs the table of cases holds once. */
static size_t different(const struct case_table *table)
{
    size_t n = 0;
    for (size_t i = 0; i < table->set->count; i++)
        n += !table->twice[i];
    return n;
}

/* --- reports --- */

/* Every value stands once in the cells of numbers, but for rows of aggregates. */
static void check_report(const struct report *report, size_t runs, const char *what, uint64_t seed)
{
    bool *seen = calloc(runs, 1);
    size_t found = 0;
    for (size_t r = 0; r < report->rows; r++) {
        const struct report_cell *row = &report->cells[r * report->columns];
        bool aggregate = report->texts && row[0].text && !report->run_of &&
                         (strcmp(row[0].text, "sum") == 0 || strcmp(row[0].text, "mean") == 0 ||
                          strcmp(row[0].text, "geomean") == 0);
        for (size_t c = report->texts; c < report->columns && !aggregate; c++) {
            if (!row[c].value.known)
                continue;
            const size_t run = (size_t)row[c].value.real - 1000;
            ck_assert_msg(run < runs && !seen[run], "%s, seed %zu: run %zu twice", what, (size_t)seed, run);
            seen[run] = true;
            found++;
        }
    }
    ck_assert_msg(found == runs, "%s, seed %zu: %zu of %zu runs", what, (size_t)seed, found, runs);
    free(seen);
}

static void check_pivot(struct made *m, const char *key, uint64_t seed)
{
    struct report report;
    struct err err = {""};
    const struct report_options how = {.metrics = "time_ns", .pivot = key, .no_best = true};
    ck_assert_msg(report_make(&report, &m->set, &how, &err) == 0, "%s: %s", key ? key : "plain", err.msg);
    check_report(&report, m->set.count, key ? key : "plain", seed);
    for (size_t r = 0; r < report.rows; r++) /* no two rows are named alike */
        for (size_t q = 0; q < r; q++) {
            bool alike = true;
            for (size_t c = 0; c < report.texts; c++)
                alike &=
                    strcmp(report.cells[r * report.columns + c].text, report.cells[q * report.columns + c].text) == 0;
            ck_assert_msg(!alike, "%s, seed %zu: rows %zu and %zu have one name", key ? key : "plain", (size_t)seed, q,
                          r);
        }
    report_release(&report);
}

START_TEST(every_run_is_in_every_report_and_pivot)
{
    for (size_t e = 0; engines[e]; e++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct made m;
            make(&m, engines[e], seed, "kernel");
            check_pivot(&m, NULL, seed);
            check_pivot(&m, "policy", seed);
            check_pivot(&m, "workload", seed);
            for (size_t a = 0; a < m.axis_count; a++)
                if (m.axes[a].of == OF_SETTINGS || m.axes[a].of == OF_PLATFORM)
                    check_pivot(&m, m.axes[a].of == OF_PLATFORM ? "platform" : m.axes[a].name, seed);
            for (size_t p = 0; p < m.policy_count; p++)
                for (size_t k = 0; k < length(m.policies[p].head->params); k++)
                    check_pivot(&m, m.policies[p].head->params[k].name, seed);
            release(&m);
        }
}
END_TEST

/* --- figures --- */

/* A number as figures print it stands between blanks. */
static bool stands(const char *script, const char *number)
{
    const size_t n = strlen(number);
    for (const char *p = strstr(script, number); p; p = strstr(p + 1, number))
        if (p > script && strchr(" \n", p[-1]) && strchr(" \n", p[n]))
            return true;
    return false;
}

/* How many runs the notes say are not drawn. */
static size_t noted(const json_t *notes)
{
    size_t i, sum = 0;
    json_t *text;
    json_array_foreach(notes, i, text) if (strstr(json_string_value(text), "not drawn")) sum +=
        strtoul(json_string_value(text), NULL, 10);
    return sum;
}

/* The runs drawn, by the number of each in the script, in units of the figure. */
static size_t drawn(const struct made *m, const struct case_table *table, const char *script, double unit)
{
    size_t n = 0;
    for (size_t i = 0; i < m->set.count; i++) {
        n += !table->twice[i] && stands(script, testing_text("%.9g", (1000 + (double)i) / unit));
    }
    return n;
}

static char *script_of(const char *figure, const char *metric, int aggregate, const struct run_set *runs, json_t *notes,
                       struct err *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const struct figure_input input = {
        .path = "made", .runs = runs, .metrics = metric, .aggregate = aggregate, .notes = notes};
    int rc = plot_script(figure_find(figure), &input, out, err);
    (void)fclose(out);
    if (!rc)
        return text;
    free(text);
    return NULL;
}

/* Times are in us. Returns whether the figure was drawn, or it refuses. */
static bool check_figure(struct made *m, const char *figure, const char *metric, int aggregate, uint64_t seed)
{
    struct err err = {""};
    struct case_table table;
    json_t *notes = json_array();
    char *script = script_of(figure, metric, aggregate, &m->set, notes, &err);
    ck_assert_msg(case_table_make(&table, &m->set, NULL, &err) == 0, "%s", err.msg);
    if (script) {
        const size_t shown = drawn(m, &table, script, strcmp(metric, "time_ns") == 0 ? 1e3 : 1);
        ck_assert_msg(shown + noted(notes) >= different(&table),
                      "%s, seed %zu: %zu of %zu runs drawn, %zu noted\n%.3000s", figure, (size_t)seed, shown,
                      different(&table), noted(notes), script);
    } else {
        ck_assert_msg(*err.msg, "%s says nothing", figure);
    }
    const bool done = script != NULL;
    free(script);
    case_table_release(&table);
    json_decref(notes);
    return done;
}

START_TEST(every_run_is_in_every_figure_or_is_said_not_to_be)
{
    size_t checked = 0;
    for (size_t e = 0; engines[e]; e++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct made m;
            make(&m, engines[e], seed, seed % 2 ? "array" : "kernel");
            checked += check_figure(&m, "bars", "time_ns", 0, seed);
            (void)check_figure(&m, "lines", "time_ns", 0, seed);
            if (engine_metric(engines[e]->name, "blocks_per_batch_median"))
                (void)check_figure(&m, "box", "blocks_per_batch_median", 0, seed);
            release(&m);
        }
    ck_assert_uint_ge(checked, (size_t)3 * SEEDS);
}
END_TEST

/* Inputs are combined there, and nothing else is: a bar for each policy and case but for its inputs. */
START_TEST(bars_over_inputs_combine_inputs_only)
{
    static const char *const metrics[] = {"fairness_index", "mode_switches", "time_ns"};
    size_t checked = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (size_t f = 0; f < sizeof metrics / sizeof *metrics; f++) {
            struct made m;
            make(&m, engine_find("dram"), seed, "kernel");
            bool inputs = false;
            for (size_t a = 0; a < m.axis_count; a++)
                inputs |= (m.axes[a].of == OF_SPEC || m.axes[a].of == OF_FOLDER) && m.axes[a].count > 1;
            checked += !inputs && check_figure(&m, "bars", metrics[f], 1, seed);
            release(&m);
        }
    ck_assert_uint_gt(checked, 20);
}
END_TEST

TEST_MAIN("every_run")
