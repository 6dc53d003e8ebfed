#include "replay/compare/compare_stop.h"

#include <math.h>

bool compare_stops(const struct compare_facts *f)
{
    const struct compare_request *r = f->request;
    return r->stop_from && f->footprint >= r->stop_from && compare_fits(f) && !f->only && !r->mixed && !r->top &&
           !r->results && !(r->robust.draws && r->far);
}

double compare_stop_ns(const struct compare_facts *f, const struct uvm_metrics *prefetched)
{
    return compare_stops(f) ? COMPARE_NEAR * (double)prefetched->time_ns : 0;
}

double compare_stop_drawn_ns(const struct compare_facts *f, const struct compare_result *result)
{
    double error = 0, best = INFINITY, first = INFINITY, second = INFINITY;
    if (!f->only || f->link_first || !f->request->stop_from)
        return 0;
    for (size_t i = 0; i < f->only_count; i++)
        error = fmax(error, f->only[i].error_ratio);
    for (size_t i = 0; i < result->count; i++) {
        const struct compare_row *row = &result->rows[i];
        const double time = compare_time(row);
        if (isnan(time) || row->outcome.values[0].unbound || !compare_wanted(f, row->mechanism, row->policy))
            continue;
        best = fmin(best, compare_time_high(row));
        second = fmin(second, fmax(first, time));
        first = fmin(first, time);
    }
    return isfinite(second) ? fmax(best * (1 + error), second) : 0;
}

void compare_stop_row(struct compare_row *row, double ns)
{
    outcome_at_least(&row->outcome, "time_ns", ns);
    outcome_note(&row->outcome, "over %d times the best: not run to its end (--whole does)", COMPARE_NEAR);
}
