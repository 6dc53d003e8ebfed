#include "replay/compare/compare_rows.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/compare/compare_case.h"
#include "replay/results/results.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/store/output.h"

/* Rows that are not ranked yet stand behind all that are. */
#define UNRANKED   (INT64_C(1) << 40)
#define STAGE_ROWS (INT64_C(1) << 20)

struct compare_keep {
    const struct compare_request *request;
    struct compare_case kase;
    struct results *results; /* NULL: not there yet */
    char id[RUN_CASE_HASH];  /* of the comparison */
    bool begun;              /* the file says that it has not ended */
    char **names;            /* of the rows that stood in the file, and that are not asked for again */
    size_t count, cap;
    int64_t base; /* position of the first row when they are ranked */
    pthread_mutex_t lock;
};

/* --- what stands there --- */

struct reading {
    struct compare_keep *keep;
    struct compare_result *result;
    bool shared, touches;
    struct err *err;
};

/* Of compare_managed_rows(), which finds its place anew. */
static bool is_managed(const struct reading *r, const struct compare_row *row)
{
    return row->mechanism == COMPARE_MANAGED && r->touches && !r->shared;
}

/* A refusal of an engine is one row for several policies: it is asked for again. Rows of a search stand together. */
static bool stands(const struct reading *r, const struct compare_row *row)
{
    const struct metric_value *time = outcome_get(&row->outcome, "time_ns");
    return row->mechanism == COMPARE_MIXED || row->mechanism == COMPARE_TIERED || time->known || time->interval ||
           row->mechanism == COMPARE_COPY || is_managed(r, row);
}

static int take_name(struct compare_keep *keep, const char *name, struct err *err)
{
    if (mem_grow((void **)&keep->names, &keep->cap, keep->count + 1, sizeof *keep->names, err))
        return -1;
    keep->names[keep->count] = mem_strdup(name, err);
    return keep->names[keep->count++] ? 0 : -1;
}

static int take_row(struct reading *r, const struct results_run *run)
{
    struct compare_result *result = r->result;
    int known = compare_row_read(result, run, r->err);
    if (known <= 0)
        return known;
    struct compare_row *row = &result->rows[result->count - 1];
    enum compare_stage stage = row->mechanism == COMPARE_COPY ? COMPARE_STAGE_COPY
                               : is_managed(r, row)           ? COMPARE_STAGE_MANAGED
                                                              : COMPARE_STAGE_ENGINES;
    row->order = (size_t)stage * STAGE_ROWS + (size_t)(run->position % STAGE_ROWS);
    if (stands(r, row))
        return take_name(r->keep, run->policy, r->err);
    compare_row_release(row);
    result->count--;
    return 0;
}

static int read_run(void *ctx, const struct results_run *run)
{
    struct reading *r = ctx;
    struct run_case other;
    if (results_case(run, &other, r->err))
        return -1;
    bool ours = run_case_equal(&other, &r->keep->kase.run_case);
    run_case_release(&other);
    if (!ours && run->position < UNRANKED && run->position >= r->keep->base)
        r->keep->base = run->position + 1;
    return ours ? take_row(r, run) : 0;
}

static int open_file(struct compare_keep *keep, struct err *err)
{
    const struct compare_request *asked = keep->request;
    output_hold();
    keep->results = results_open(asked->results, asked->replace ? RESULTS_FORCE : RESULTS_APPEND, err);
    if (keep->results && !asked->replace && asked->opened)
        asked->opened(asked->results);
    output_release();
    return keep->results ? 0 : -1;
}

/* A file that is there is looked at before anything runs. */
static int read_file(struct compare_keep *keep, const struct compare_facts *facts, struct compare_result *result,
                     struct err *err)
{
    struct reading reading = {keep, result, platform_has(facts->platform, "placement"), facts->touches, err};
    if (keep->request->replace || access(keep->request->results, F_OK))
        return 0;
    if (open_file(keep, err) || results_each(keep->results, read_run, &reading, err))
        return -1;
    int sweeping = results_sweeping(keep->results, keep->id, err);
    keep->begun = sweeping > 0;
    return sweeping < 0 ? -1 : 0;
}

/* What is compared, --all and draws among it, as 32 digits. */
static int make_id(struct compare_keep *keep, struct err *err)
{
    const struct compare_request *asked = keep->request;
    json_t *params = json_pack("{s:b,s:I}", "all", asked->all, "draws", (json_int_t)asked->draws);
    int rc = params ? run_case_key(&keep->kase.run_case, "compare", params, NULL, keep->id, err)
                    : err_set(err, "out of memory");
    json_decref(params);
    return rc;
}

int compare_keep_open(struct compare_keep **keep, const struct compare_facts *facts, struct compare_result *result,
                      struct err *err)
{
    *keep = NULL;
    if (!facts->request->results)
        return 0;
    struct compare_keep *k = mem_zalloc(1, sizeof *k, err);
    if (!k)
        return -1;
    k->request = facts->request;
    (void)pthread_mutex_init(&k->lock, NULL);
    if (compare_case_init(&k->kase, facts->request, result, false, err) || make_id(k, err) ||
        read_file(k, facts, result, err)) {
        compare_keep_close(k);
        return -1;
    }
    *keep = k;
    return 0;
}

void compare_keep_close(struct compare_keep *keep)
{
    if (!keep)
        return;
    results_close(keep->results);
    compare_case_release(&keep->kase);
    for (size_t i = 0; i < keep->count; i++)
        free(keep->names[i]);
    free((void *)keep->names);
    (void)pthread_mutex_destroy(&keep->lock);
    free(keep);
}

bool compare_keep_has(const struct compare_keep *keep, enum compare_mechanism mechanism, const char *policy)
{
    char name[COMPARE_NAME];
    if (!keep)
        return false;
    (void)snprintf(name, sizeof name, "%s (%s)", compare_mechanism_name(mechanism), policy);
    for (size_t i = 0; i < keep->count; i++)
        if (strcmp(keep->names[i], name) == 0)
            return true;
    return false;
}

bool compare_keep_has_any(const struct compare_keep *keep, enum compare_mechanism mechanism)
{
    const char *name = compare_mechanism_name(mechanism);
    const size_t n = strlen(name);
    for (size_t i = 0; keep && i < keep->count; i++)
        if (strncmp(keep->names[i], name, n) == 0 && keep->names[i][n] == ' ')
            return true;
    return false;
}

/* --- rows into the file --- */

enum { TEXTS = 13 };

/* Runs with the texts that they point at. */
struct writing {
    struct results_run *runs;
    char *(*texts)[TEXTS];
    size_t count;
};

static void writing_release(struct writing *w)
{
    for (size_t i = 0; i < w->count; i++)
        for (int t = 0; t < TEXTS; t++)
            free(w->texts[i][t]);
    free(w->texts);
    free(w->runs);
}

static int write_run(struct writing *w, const struct compare_case *kase, json_t *object, int64_t position,
                     struct err *err)
{
    char **t = w->texts[w->count];
    json_t *intervals = object ? results_intervals(object) : NULL;
    const json_t *input = json_array_get(kase->run_case.inputs, 0);
    const json_t *from[] = {kase->run_case.inputs,
                            kase->numbers,
                            kase->overrides,
                            kase->settings,
                            json_object_get(object, "params"),
                            json_object_get(object, "metrics"),
                            intervals,
                            json_object_get(object, "notes")};
    const char *plain[] = {json_string_value(json_object_get(input, "input")),
                           json_string_value(json_object_get(input, "hash")), kase->run_case.platform,
                           json_string_value(json_object_get(object, "policy")), kase->run_case.version};
    bool whole = true;
    for (int i = 0; i < 8; i++)
        whole &= (t[i] = json_tree_dump(from[i], JSON_COMPACT)) != NULL;
    for (int i = 0; i < 5; i++)
        whole &= (t[8 + i] = mem_strdup(plain[i] ? plain[i] : "", NULL)) != NULL;
    w->runs[w->count++] = (struct results_run){.position = position,
                                               .engine = engine_compare.name,
                                               .inputs = t[0],
                                               .numbers = t[1],
                                               .overrides = t[2],
                                               .settings = t[3],
                                               .params = t[4],
                                               .metrics = t[5],
                                               .intervals = t[6],
                                               .notes = t[7],
                                               .input = t[8],
                                               .input_hash = t[9],
                                               .platform = t[10],
                                               .policy = t[11],
                                               .version = t[12]};
    json_decref(intervals);
    json_decref(object);
    return whole ? 0 : err_set(err, "out of memory while writing results");
}

static int writing_init(struct writing *w, size_t n, struct err *err)
{
    *w = (struct writing){.runs = mem_zalloc(n + 1, sizeof *w->runs, err),
                          .texts = mem_zalloc(n + 1, sizeof *w->texts, err)};
    if (w->runs && w->texts)
        return 0;
    writing_release(w);
    return -1;
}

/* Whether all of them are there: 1, 0 or -1 with *err set. */
static int there(const struct compare_keep *keep, const struct writing *w, struct err *err)
{
    int found = 1;
    for (size_t i = 0; i < w->count && found == 1; i++) {
        char key[RUN_CASE_HASH];
        found = results_key(&w->runs[i], key, err) ? -1 : results_has(keep->results, key, err);
    }
    return found;
}

/* A comparison that is in the file as a whole leaves it as it is. */
static int put_new(struct compare_keep *keep, const struct writing *w, struct err *err)
{
    int found = keep->begun ? 0 : there(keep, w, err);
    if (found)
        return found < 0 ? -1 : 0;
    if (!keep->begun && results_sweep_begin(keep->results, keep->id, (int64_t)w->count, err))
        return -1;
    keep->begun = true;
    return results_put(keep->results, w->runs, w->count, err);
}

/* The file is there from the first row on. */
static int put(struct compare_keep *keep, const struct writing *w, struct err *err)
{
    (void)pthread_mutex_lock(&keep->lock);
    int rc = keep->results ? 0 : open_file(keep, err);
    if (rc == 0)
        rc = put_new(keep, w, err);
    (void)pthread_mutex_unlock(&keep->lock);
    return rc;
}

/* Rows from `first` up to `end`, in one transaction; position: of the first, by their order where it is UNRANKED. */
static int put_rows(struct compare_keep *keep, const struct compare_case *kase, const struct compare_result *result,
                    size_t first, size_t end, int64_t position, struct err *err)
{
    struct writing w;
    if (first >= end)
        return 0;
    if (writing_init(&w, end - first, err))
        return -1;
    int rc = 0;
    for (size_t i = first; i < end && rc == 0; i++) {
        json_t *run = compare_run_json(result, i, kase != &keep->kase, err);
        int64_t at = position + (int64_t)(position == UNRANKED ? result->rows[i].order : i - first);
        rc = run ? write_run(&w, kase, run, at, err) : -1;
    }
    if (rc == 0)
        rc = put(keep, &w, err);
    writing_release(&w);
    return rc;
}

int compare_keep_row(struct compare_keep *keep, const struct compare_result *result, const struct compare_row *row,
                     struct err *err)
{
    return keep ? put_rows(keep, &keep->kase, result, (size_t)(row - result->rows), (size_t)(row - result->rows) + 1,
                           UNRANKED, err)
                : 0;
}

int compare_keep_stage(struct compare_keep *keep, struct compare_result *result, size_t first, enum compare_stage stage,
                       struct err *err)
{
    if (!keep)
        return 0;
    for (size_t i = first; i < result->count && stage != COMPARE_STAGE_MANAGED; i++)
        result->rows[i].order = (size_t)stage * STAGE_ROWS + i - first;
    return put_rows(keep, &keep->kase, result, first, result->count, UNRANKED, err);
}

static int put_drawn(struct compare_keep *keep, const struct compare_result *result, struct err *err)
{
    struct compare_case drawn;
    if (!result->drawn)
        return 0;
    if (compare_case_init(&drawn, keep->request, result, true, err))
        return -1;
    int rc = put_rows(keep, &drawn, result, 0, result->drawn, keep->base + (int64_t)result->count, err);
    compare_case_release(&drawn);
    return rc;
}

int compare_keep_end(struct compare_keep *keep, const struct compare_result *result, struct err *err)
{
    if (!keep || !result->count)
        return 0;
    if (put_rows(keep, &keep->kase, result, 0, result->count, keep->base, err) || put_drawn(keep, result, err) ||
        (keep->begun && results_sweep_end(keep->results, keep->id, err)))
        return -1;
    if (keep->request->replace)
        return results_finish(keep->results, err);
    if (keep->begun)
        results_settle(keep->results);
    return 0;
}
