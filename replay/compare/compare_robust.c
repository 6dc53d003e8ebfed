#include <stdlib.h>
#include <string.h>

#include "replay/compare/compare_rows.h"
#include "replay/zerocopy/zerocopy.h"
#include "trace/base/mem.h"

struct drawing {
    const struct compare_program *facts;
    const struct platform_choice *choice;
    const struct compare_row *rows; /* the answers */
    size_t count;
    pthread_mutex_t engines;
};

/* Of [pcie] and [gpu]: what the simulation of a launch's reads does not go by, though the time of all may; behind them
 * what no kernel that reads host memory goes by; the first one of these tells of copies. */
enum { UNREAD = 10 };
static const char *const around[] = {"walk_ns",
                                     "reach_bytes",
                                     "issue_sharpness",
                                     "visit_ns",
                                     "chain_sharpness",
                                     "l1_together",
                                     "l1_group",
                                     "l1_steady",
                                     "block_gap_ns",
                                     "l2_ways",
                                     "copy_payload_bytes",
                                     "cpu_rows_bytes_per_s",
                                     "cpu_lists_bytes_per_s",
                                     "uvm_reserve_bytes",
                                     NULL};
static const char *const *const unread = around + UNREAD;

/* Of [launch]: what no row without prefetches goes by. */
static const char *const uncalled[] = {"prefetch_call_ns", "prefetch_block_ns",    "zero_bytes_per_s",
                                       "lock_bytes_per_s", "pageable_bytes_per_s", NULL};

/* Whether all platform numbers of a row are unchanged, and so the row. `kernels`: so are those of the prefetched run,
 * which copies and mixes use. */
static bool as_it_was(const struct drawing *d, const struct platform *now, const struct compare_row *row, bool kernels)
{
    const struct platform *was = d->facts->platform;
    if (!d->facts->request->stop_from || platform_has(now, "placement"))
        return false;
    if (row->mechanism != COMPARE_MANAGED && !platform_same(was, now, "launch", uncalled))
        return false;
    switch (row->mechanism) {
    case COMPARE_COPY:
        return kernels && platform_same(was, now, "pcie", NULL);
    case COMPARE_MANAGED:
        return uvm_managed_same(was, now, row->activity);
    case COMPARE_ZEROCOPY:
        return platform_same(was, now, "pcie", unread) && platform_same(was, now, "gpu", NULL);
    case COMPARE_BLOCKS:
        return platform_same(was, now, "pcie", NULL) && platform_same(was, now, "batch", NULL);
    case COMPARE_TIERED:
        return platform_same(was, now, "pcie", NULL) && platform_same(was, now, "gpu", NULL);
    case COMPARE_MIXED:
        return kernels && platform_same(was, now, "pcie", unread + 1) &&
               (row->activity.known ? uvm_managed_same(was, now, row->activity) : platform_same(was, now, "gpu", NULL));
    default:
        return false;
    }
}

static void fill(struct drawing *d, const struct compare_result *got, struct robust_value *values)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct compare_row *row = compare_find(got, d->rows[i].mechanism, d->rows[i].policy);
        if (row)
            values[i] = compare_value(row);
    }
}

/* The rows that are asked for, on another platform. */
static int answer(void *ctx, const struct platform *platform, struct robust_value *values, struct err *err)
{
    struct drawing *d = ctx;
    struct compare_request request = *d->facts->request;
    request.threads = 1;
    request.progress = NULL;
    struct compare_row *rows = mem_zalloc(d->count, sizeof *rows, err);
    if (!rows)
        return -1;
    struct compare_program facts = *d->facts;
    const struct uvm_metrics *whole = facts.prefetched;
    if (!request.stop_from || !whole || !uvm_managed_same(d->facts->platform, platform, uvm_managed_activity(whole)))
        facts.prefetched = NULL;
    facts.request = &request;
    facts.platform = platform;
    facts.only = rows;
    facts.first = &d->rows[0];
    facts.engines = &d->engines;
    facts.same_reads = platform_same(d->facts->platform, platform, "pcie", around) &&
                       platform_same(d->facts->platform, platform, "gpu", around);
    for (size_t i = 0; i < d->count; i++) {
        const bool same = as_it_was(d, platform, &d->rows[i], facts.prefetched != NULL);
        values[i] = same ? compare_value(&d->rows[i]) : (struct robust_value){.state = ROBUST_REFUSED};
        if (same)
            rows[d->count - ++facts.same_count] = d->rows[i];
        else
            rows[facts.only_count++] = d->rows[i];
    }
    struct compare_result got = {.choice = *d->choice};
    struct uvm_metrics prefetched;
    int rc = facts.only_count ? compare_rows(&facts, &got, &prefetched, err) : 0;
    if (rc == 0)
        fill(d, &got, values);
    compare_release(&got);
    free(rows);
    progress_add(d->facts->request->progress, 1);
    return rc;
}

/* How much of the rows of host memory the draws simulate. */
static void say_share(const struct zerocopy_took *took, struct compare_result *result)
{
    uint32_t n = 0;
    for (uint32_t l = 0; took->of && l < took->launches; l++)
        n += took->of[l].time_ns > 0;
    for (size_t i = 0; i < result->drawn && host_reads_again(n) < n; i++)
        if (result->rows[i].mechanism == COMPARE_ZEROCOPY &&
            strncmp(result->rows[i].policy, took->pattern, strcspn(result->rows[i].policy, ":")) == 0)
            outcome_note(
                &result->rows[i].outcome,
                "draws simulate %u of %u launches, each in place of those that take nearly as long (--whole: all)",
                host_reads_again(n), n);
}

int compare_robust(const struct compare_program *f, struct compare_result *result, struct err *err)
{
    static const char *const own[] = {"uvm", "gpu", "pcie", "launch", NULL}, *const shared[] = {"placement", "gpu",
                                                                                                "uvm", NULL};
    const struct compare_request *asked = f->request;
    double best = result->count ? compare_time(&result->rows[0]) : 0;
    while (result->drawn < result->count && result->rows[result->drawn].answered &&
           (result->drawn < 2 || compare_time(&result->rows[result->drawn]) <= COMPARE_NEAR * best))
        result->drawn++;
    if (result->drawn < 2) {
        result->drawn = 0; /* nothing to win against */
        return 0;
    }
    double *errors = mem_zalloc(result->drawn, sizeof *errors, err);
    if (!errors)
        return -1;
    for (size_t i = 0; i < result->drawn; i++)
        errors[i] = result->rows[i].error_ratio;
    struct drawing drawing = {.facts = f,
                              .choice = &result->choice,
                              .rows = result->rows,
                              .count = result->drawn,
                              .engines = PTHREAD_MUTEX_INITIALIZER};
    const struct robust_question question = {.platform = result->platform,
                                             .sections = platform_has(f->platform, "placement") ? shared : own,
                                             .answers = result->drawn,
                                             .errors = errors,
                                             .answer = answer,
                                             .ctx = &drawing,
                                             .draws = asked->draws,
                                             .seed = 1,
                                             .threads = asked->threads};
    int rc = robust_run(&result->robust, &question, err);
    free(errors);
    if (rc)
        result->drawn = 0;
    for (int i = 0; f->took && i < ZEROCOPY_TOOK; i++)
        say_share(&f->took[i], result);
    return rc;
}
