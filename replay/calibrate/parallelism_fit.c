#include "replay/calibrate/parallelism_fit.h"

#include <math.h>
#include <stdlib.h>

#include "trace/base/mem.h"

int parallelism_add(struct parallelism *p, double in_flight, double time, struct err *err)
{
    if (mem_grow((void **)&p->rows, &p->cap, p->count + 1, sizeof *p->rows, err))
        return -1;
    p->rows[p->count++] = (struct parallelism_row){in_flight, time};
    return 0;
}

static int by_in_flight(const void *a, const void *b)
{
    const struct parallelism_row *x = a, *y = b;
    return x->in_flight < y->in_flight ? -1 : x->in_flight > y->in_flight;
}

/* One factor to rows from .. to, time = factor x shape with shape 1 / p or 1: its value, squared residuals and squared
 * standard error, all relative. */
static double one_side(const struct parallelism *p, size_t from, size_t to, bool falls, double *square, double *error)
{
    double up = 0, down = 0;
    for (size_t i = from; i < to; i++) {
        double a = (falls ? 1 / p->rows[i].in_flight : 1) / p->rows[i].time;
        up += a;
        down += a * a;
    }
    double factor = up / down;
    *square = 0;
    for (size_t i = from; i < to; i++) {
        double r = factor * (falls ? 1 / p->rows[i].in_flight : 1) / p->rows[i].time - 1;
        *square += r * r;
    }
    *error = *square / (double)(to - from - 1) / (down * factor * factor);
    return factor;
}

int parallelism_solve(struct parallelism *p)
{
    double least = INFINITY, level = INFINITY, e;
    if (p->count >= 4) {
        qsort(p->rows, p->count, sizeof *p->rows, by_in_flight);
        (void)one_side(p, 0, p->count, true, &level, &e); /* it never levels off */
    }
    for (size_t cut = 2; cut + 2 <= p->count; cut++) {
        double falling, flat, e1, e2;
        double latency = one_side(p, 0, cut, true, &falling, &e1), time = one_side(p, cut, p->count, false, &flat, &e2);
        double peak = latency / time;
        /* The peak lies where the one side meets the other, not beyond the rows that are to be at it. */
        if (falling + flat >= fmin(least, level) || peak > p->rows[p->count - 1].in_flight || peak < 1)
            continue;
        least = falling + flat;
        p->peak = peak;
        p->error = peak * sqrt(e1 + e2);
        p->flat = p->count - cut;
    }
    if (least == INFINITY)
        return -1;
    double mean = 0, variance = 0;
    for (size_t i = 0; i < p->count; i++)
        mean += p->rows[i].time / (double)p->count;
    for (size_t i = 0; i < p->count; i++)
        variance += pow(1 - mean / p->rows[i].time, 2);
    p->fit = (struct fit){
        .rows = p->count, .rms = sqrt(least / (double)p->count), .r2 = variance > 0 ? 1 - least / variance : 0};
    return 0;
}
