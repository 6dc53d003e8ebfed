/* Hot rows of a table on the GPU, the others read from the host. The judge is the zero-copy engine with its residency
 * (replay/zerocopy/zerocopy_tier.h). Rows by degree where they are a graph's vertices, or by another run's accesses
 * where the input has them: asked for a few shares of the table; the copy of the rows that are kept, one block by the
 * link's rule, is added. Of other rows, where any is asked for again: caches, each at the knee of its curve
 * (models/zerocopy/row_cache.h), to two digits of the table's share. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/zerocopy/link.h"
#include "models/zerocopy/row_cache.h"
#include "replay/compare/compare_rows.h"
#include "replay/zerocopy/zerocopy.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"

/* Shares of the table in per cent; also tried: the part that memory holds. */
static const double shares[] = {1, 2, 5, 10, 20, 50};

enum { SHARES = sizeof shares / sizeof *shares };

/* Rows that one rule ranks. */
struct ranked {
    const char *score, *by; /* resident=, and in words */
    uint64_t rows;
    double row_bytes;
    bool fills;      /* a cache, which nobody fills before */
    char curve[240]; /* of a cache: what is known of other sizes; else "" */
};

static uint64_t kept_rows(const struct ranked *r, double pct)
{
    return (uint64_t)((double)r->rows * pct / 100); /* as models/zerocopy/pattern.h */
}

static void name_of(char *name, size_t size, const char *pattern, const struct ranked *r, double pct)
{
    (void)snprintf(name, size, "%s, %g %% by %s", pattern, pct, r->by);
}

static bool wanted(const struct compare_program *f, const struct ranked *r, double pct)
{
    char naive[96], shift[96];
    name_of(naive, sizeof naive, "naive", r, pct);
    name_of(shift, sizeof shift, "shift", r, pct);
    return compare_wanted(f, COMPARE_TIERED, naive) || compare_wanted(f, COMPARE_TIERED, shift);
}

static void say(struct compare_row *row, const struct ranked *r, double pct, double copy_ns, const struct outcome *out)
{
    unsigned long long kept = kept_rows(r, pct);
    const struct metric_value *hits = outcome_get(out, "hit_ratio");
    if (r->fills) {
        compare_plan_say(row,
                         "a cache of %llu of %llu rows (%.2g %%), %.0f bytes of cudaMalloc(): the kernel looks each "
                         "row up there first (%s), and keeps there what it reads from the host",
                         kept, (unsigned long long)r->rows, pct, (double)kept * r->row_bytes, r->by);
        outcome_note(
            &row->outcome,
            "%.3g %% of lookups hit the cache, which is empty at first; the time leaves out its tables and writes",
            100 * hits->real);
        return;
    }
    if (strcmp(r->by, COMPARE_OWN_COUNTS) == 0) {
        compare_plan_say(row, "how often this run asks for each row is not known before it: it can be had of a run "
                              "before (recorded=FILE)");
        outcome_note(&row->outcome, "a bound: what it would take at best if the run's own counts were known before");
    }
    compare_plan_say(row,
                     "number the rows by %s, most first, as the program loads its table: the first %llu of %llu rows "
                     "(%g %%), %.0f bytes, are kept on the GPU",
                     r->by, kept, (unsigned long long)r->rows, pct, (double)kept * r->row_bytes);
    compare_plan_say(
        row,
        "cudaMalloc() and one cudaMemcpy() of these %.0f bytes before the first kernel; rows below %llu are "
        "read there, the others from the host",
        (double)kept * r->row_bytes, kept);
    if (hits && hits->known)
        outcome_note(&row->outcome,
                     "%.3g %% of the rows asked for lie on the GPU; %.4g ms of the time copy them there, and the "
                     "numbering is left out",
                     100 * hits->real, copy_ns / 1e6);
    outcome_note(&row->outcome,
                 "rows on the GPU are counted, not simulated: what the warp before touched counts as cached");
}

static int add_row(const struct compare_program *f, const struct ranked *r, double pct,
                   const struct replay_policy *policy, const struct outcome *out, struct compare_result *tried,
                   struct err *err)
{
    char name[96];
    name_of(name, sizeof name, policy->head->name, r, pct);
    struct compare_row *row =
        compare_wanted(f, COMPARE_TIERED, name) ? compare_add(tried, COMPARE_TIERED, name, err) : NULL;
    if (!row)
        return compare_wanted(f, COMPARE_TIERED, name) ? -1 : 0;
    if (*r->curve)
        compare_plan_say(row, "%s", r->curve);
    compare_fill_zerocopy(f, out, row, policy->head->name);
    const struct metric_value *time = outcome_get(&row->outcome, "time_ns"),
                              *in = outcome_get(&row->outcome, "h2d_bytes"),
                              *gpu = outcome_get(&row->outcome, "gpu_bytes");
    const double kept = (double)kept_rows(r, pct) * r->row_bytes, bytes = r->fills ? 0 : kept;
    const struct launch *calls = platform_section_get(f->platform, "launch");
    const double copy_ns =
        r->fills ? 0 : link_copy_ns(platform_section_get(f->platform, "pcie"), bytes, 1) + calls->wait_ns;
    if (time->interval)
        outcome_interval(&row->outcome, "time_ns", time->lo + copy_ns, time->hi + copy_ns);
    if (time->known)
        outcome_real(&row->outcome, "time_ns", time->real + copy_ns);
    if (in->known)
        outcome_real(&row->outcome, "h2d_bytes", in->real + bytes);
    if (gpu->known)
        outcome_real(&row->outcome, "gpu_bytes", gpu->real + kept);
    if (in->known)
        outcome_real(&row->outcome, "read_amplification_ratio", in->real / ((double)r->rows * r->row_bytes));
    say(row, r, pct, copy_ns, out);
    if (json_object_set_new(row->params, "resident", json_string(r->score)) ||
        json_object_set_new(row->params, "local_pct", json_real(pct)))
        return err_set(err, "out of memory");
    return 0;
}

/* Try one share with every pattern. If the engine refuses one share, it refuses all. */
static int try_share(const struct compare_program *f, const struct ranked *r, double pct, struct compare_result *tried,
                     struct err *err)
{
    const struct compare_request *asked = f->request;
    char resident[64], local[64];
    const size_t n = asked->set_count;
    const char **sets = mem_zalloc(n + 2, sizeof *sets, err);
    if (!sets)
        return -1;
    (void)snprintf(resident, sizeof resident, "resident=%s", r->score);
    (void)snprintf(local, sizeof local, "local_pct=%.17g", pct);
    for (size_t i = 0; i < n; i++)
        sets[i] = asked->sets[i];
    sets[n] = resident;
    sets[n + 1] = local;
    struct replay_request request = {.engine = engine_find("zerocopy"),
                                     .platform = asked->platform ? asked->platform : tried->choice.name,
                                     .policy_list = "naive,shift",
                                     .sets = sets,
                                     .set_count = n + 2,
                                     .set_sections = compare_sections(f->platform),
                                     .inputs = f->input,
                                     .input_count = 1,
                                     .threads = f->threads};
    struct replay_result got;
    struct err why = {""};
    int rc = compare_execute(f, &request, &got, &why);
    free((void *)sets);
    if (rc)
        return compare_refuse(tried, COMPARE_TIERED, r->by, &why, err);
    for (size_t i = 0; i < got.policy_count && rc == 0; i++)
        rc = add_row(f, r, pct, &got.policies[i], &got.runs[i], tried, err);
    replay_release(&got);
    return rc;
}

/* The best of these shares. */
static int add_best(const struct compare_program *f, const struct ranked *r, const double *pct, size_t n,
                    struct compare_result *result, struct err *err)
{
    struct compare_result tried = {.choice = result->choice};
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        if (kept_rows(r, pct[i]) && wanted(f, r, pct[i]))
            rc = try_share(f, r, pct[i], &tried, err);
    if (rc == 0)
        return compare_keep_best(result, &tried, err);
    compare_release(&tried);
    return -1;
}

static int add_ranked(const struct compare_program *f, const struct ranked *r, struct compare_result *result,
                      struct err *err)
{
    const double table = (double)r->rows * r->row_bytes, room = f->memory ? (double)f->memory : table;
    const double most = floor(1000 * room / table) / 10; /* what memory holds, to a thousandth */
    double pct[SHARES + 1] = {0};
    size_t n = 0;
    for (size_t i = 0; i < SHARES; i++)
        if (shares[i] <= most)
            pct[n++] = shares[i];
    if (most < 100 && (n == 0 || pct[n - 1] != most))
        pct[n++] = most;
    return add_best(f, r, pct, n, result, err);
}

/* --- caches --- */

/* Find the knee of a curve as a share of the table, in per cent to two digits, and describe it with the largest that
 * fits. 0: no row is asked for twice. */
static double find_knee(const struct compare_program *f, const uint64_t *hits, uint32_t distinct, size_t lookups,
                        struct ranked *r)
{
    char size[32], all[32], whole[32];
    const double room = f->memory ? floor((double)f->memory / r->row_bytes) : distinct, table = (double)r->rows;
    const uint32_t most = room < distinct ? (uint32_t)room : distinct, knee = row_cache_knee(hits, most);
    const double exact = 100 * knee / table, digit = knee ? pow(10, floor(log10(exact)) - 1) : 1;
    (void)snprintf(size, sizeof size, "%.1e", fmin(ceil(exact / digit) * digit, 100));
    const double pct = strtod(size, NULL); /* no fewer rows */
    (void)snprintf(r->curve, sizeof r->curve,
                   "knee at %s of %s: %.2g %% of the rows serve %.3g %% of lookups, %s, the most of use, %.3g %%",
                   units_human_bytes(knee * r->row_bytes, size, sizeof size),
                   units_human_bytes(table * r->row_bytes, whole, sizeof whole), pct,
                   100 * (double)hits[knee] / (double)lookups, units_human_bytes(most * r->row_bytes, all, sizeof all),
                   100 * (double)hits[most] / (double)lookups);
    return pct;
}

/* The times of rows that know beforehand what is asked for most become bounds. */
static void make_bounds(struct compare_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isnan(compare_time(&rows[i])))
            outcome_at_least(&rows[i].outcome, "time_ns", compare_time_low(&rows[i]));
}

/* Where rows come again. Without that, why there is none. */
static int add_caches(const struct compare_program *f, const struct scan_setup *setup, struct ranked *r,
                      struct compare_result *result, struct err *err)
{
    static const char *const names[][2] = {{"lru", "lru"}, {"lfu", "lfu"}, {"counted", COMPARE_OWN_COUNTS}};
    const struct workload *w = &f->input->workload;
    struct scan_setup unused;
    uint64_t *lookups;
    size_t n;
    uint32_t distinct = 0;
    if (f->engines)
        (void)pthread_mutex_lock(f->engines);
    int rc = tier_rows(setup, zerocopy_scans_of(w, &unused), w->state, &lookups, &n, err);
    if (f->engines)
        (void)pthread_mutex_unlock(f->engines);
    for (int cache = ROW_CACHE_LRU; cache <= ROW_CACHE_COUNTED && rc == 0 && distinct < n; cache++) {
        uint64_t *hits = row_cache_curve((enum row_cache)cache, lookups, n, &distinct, err);
        r->score = names[cache][0];
        r->by = names[cache][1];
        r->fills = cache != ROW_CACHE_COUNTED;
        const double pct = hits && distinct < n ? find_knee(f, hits, distinct, n, r) : 0;
        const size_t first = result->count;
        rc = hits ? add_best(f, r, &pct, 1, result, err) : -1;
        if (cache == ROW_CACHE_COUNTED)
            make_bounds(result->rows + first, result->count - first);
        free(hits);
    }
    free(lookups);
    if (rc || distinct < n)
        return rc;
    return compare_refuse(
        result, COMPARE_TIERED, "hot rows",
        &(struct err){"no row is asked for twice, and nothing else says which are asked for most: they "
                      "come from no graph (graph=), and no other run's rows are given "
                      "(recorded=FILE)"},
        err);
}

int compare_tiered_rows(const struct compare_program *f, const struct scan_setup *setup, struct compare_result *result,
                        struct err *err)
{
    if (!compare_wanted(f, COMPARE_TIERED, NULL))
        return 0;
    if (setup->shape == SCAN_LISTS)
        return compare_refuse(result, COMPARE_TIERED, "hot lists",
                              &(struct err){"which lists are kept on the GPU can be asked of a gather's rows only"},
                              err);
    if (setup->shape != SCAN_ROWS)
        return 0;
    struct ranked r = {.row_bytes = (double)setup->row_elements * setup->structures[0].element};
    r.rows = setup->structures[0].elements / (uint64_t)setup->row_elements;
    if (setup->graph) {
        r.score = r.by = "degree";
        r.rows = setup->graph->vertices;
        if (add_ranked(f, &r, result, err))
            return -1;
    }
    if (setup->recorded) {
        r.score = "recorded";
        r.by = "recorded accesses";
        return add_ranked(f, &r, result, err);
    }
    return setup->graph ? 0 : add_caches(f, setup, &r, result, err);
}
