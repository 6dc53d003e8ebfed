#include "replay/compare/compare_stop.h"

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

void compare_stop_row(struct compare_row *row, double ns)
{
    outcome_at_least(&row->outcome, "time_ns", ns);
    outcome_note(&row->outcome, "over %d times the best: not run to its end (--whole does)", COMPARE_NEAR);
}
