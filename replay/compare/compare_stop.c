#include "replay/compare/compare_rows.h"

#include <math.h>

bool compare_stops(const struct compare_facts *f)
{
    const struct compare_request *r = f->request;
    return r->stop_from && f->footprint >= r->stop_from && compare_fits(f) && !f->only && !r->mixed && !r->top &&
           !r->results;
}

double compare_stop_ns(const struct compare_facts *f, const struct uvm_metrics *prefetched)
{
    return compare_stops(f) ? COMPARE_NEAR * (double)prefetched->time_ns : 0;
}

/* Times of rows, least first. */
struct least {
    double high, first, second; /* the least upper end; the two least times */
};

static void take(struct least *least, const struct compare_row *row)
{
    const double time = compare_time(row);
    if (isnan(time) || row->outcome.values[0].unbound)
        return;
    least->high = fmin(least->high, compare_time_high(row));
    least->second = fmin(least->second, fmax(least->first, time));
    least->first = fmin(least->first, time);
}

/* Whether rows like the first one may stop: it would, too. */
static bool first_is_like(const struct compare_facts *f, enum compare_mechanism mechanism)
{
    const struct compare_row *first = f->first;
    if (mechanism == COMPARE_MANAGED)
        return first->mechanism == COMPARE_MANAGED && !first->prefetched;
    return first->mechanism == COMPARE_ZEROCOPY || first->mechanism == COMPARE_TIERED;
}

double compare_stop_drawn_ns(const struct compare_facts *f, enum compare_mechanism mechanism,
                             const struct compare_result *result)
{
    struct least least = {INFINITY, INFINITY, INFINITY};
    double error = 0;
    if (!f->only || !f->request->stop_from || first_is_like(f, mechanism))
        return 0;
    for (size_t i = 0; i < f->only_count + f->same_count; i++)
        error = fmax(error, f->only[i].error_ratio);
    for (size_t i = f->only_count; i < f->only_count + f->same_count; i++)
        take(&least, &f->only[i]);
    for (size_t i = 0; i < result->count; i++)
        if (compare_wanted(f, result->rows[i].mechanism, result->rows[i].policy))
            take(&least, &result->rows[i]);
    return isfinite(least.second) ? fmax(least.high * (1 + error), least.second) : 0;
}

void compare_stop_row(struct compare_row *row, double ns)
{
    outcome_at_least(&row->outcome, "time_ns", ns);
    outcome_note(&row->outcome, "over %d times the best: not run to its end (--whole does)", COMPARE_NEAR);
}
