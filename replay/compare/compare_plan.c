#include <inttypes.h>

#include "replay/compare/compare.h"

const struct compare_row *compare_plannable(const struct compare_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->rows[i].answered && result->rows[i].stock)
            return &result->rows[i];
    return NULL;
}

int compare_plan(const struct compare_result *result, FILE *to, struct err *err)
{
    static const char *const predicted[] = {"time_ns", "h2d_bytes", "d2h_bytes"}; /* that `offchip diff` knows */
    const struct compare_row *row = compare_plannable(result);
    if (!row)
        return err_set(err, "nothing to plan: no answer is of unified memory under the driver as it is");
    const double time = compare_time(row);
    (void)fprintf(to,
                  "[plan]\nversion = 1\nprogram = %s\nplatform = %s\nmechanism = %s\npolicy = %s\n"
                  "time_lo_ns = %.0f\ntime_hi_ns = %.0f\n",
                  result->program, platform_name(result->platform), compare_mechanism_name(row->mechanism), row->policy,
                  time * (1 - row->error_ratio), time * (1 + row->error_ratio));
    for (size_t i = 0; i < sizeof predicted / sizeof *predicted; i++) {
        const struct metric_value *v = outcome_get(&row->outcome, predicted[i]);
        if (v->known)
            (void)fprintf(to, "predicted_%s = %.0f\n", predicted[i], v->real);
    }
    for (size_t i = 0; i < result->alloc_count; i++) {
        bool advised = i < 64 && row->advised >> i & 1;
        (void)fprintf(to, "\n[allocation %zu] ; %s\nbytes = %" PRIu64 "\n", i, result->allocs[i].name,
                      result->allocs[i].bytes);
        if (advised)
            (void)fputs("; predicted for advice that is given when the CPU has written; record --apply gives it "
                        "before: slower\n"
                        "advise = read-mostly\n",
                        to);
        if (row->prefetched)
            (void)fputs("prefetch = gpu\n", to);
    }
    return 0;
}
