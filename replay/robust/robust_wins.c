#include <math.h>

#include "replay/robust/robust_inside.h"

struct robust_value robust_point(double value)
{
    return robust_between(value, value);
}

struct robust_value robust_between(double lo, double hi)
{
    if (!isfinite(lo) || !isfinite(hi) || lo < 0 || hi < lo)
        return (struct robust_value){.state = ROBUST_UNBOUNDED};
    return (struct robust_value){ROBUST_STANDS, lo == hi ? lo : lo + (hi - lo) / 2, lo, hi};
}

static double error_of(const struct robust_question *q, size_t answer)
{
    return q->errors ? q->errors[answer] : 0;
}

static bool beats(const struct robust_question *q, const struct robust_value *values, size_t a, size_t b)
{
    if (values[a].state != ROBUST_STANDS)
        return false;
    double room = 1 + fmax(error_of(q, a), error_of(q, b));
    return q->more_is_better ? values[a].lo > values[b].hi * room : values[a].hi * room < values[b].lo;
}

static bool better(const struct robust_question *q, const struct robust_value *a, const struct robust_value *b)
{
    return q->more_is_better ? a->value > b->value : a->value < b->value;
}

void robust_judge(const struct robust_question *q, struct robust_here *here)
{
    here->best = ROBUST_NONE;
    for (size_t b = 0; b < q->answers; b++) {
        bool wins = here->values[b].state == ROBUST_STANDS;
        for (size_t a = 0; a < q->answers && wins; a++)
            wins = !beats(q, here->values, a, b);
        here->wins[b] = wins;
        if (wins && (here->best == ROBUST_NONE || better(q, &here->values[b], &here->values[here->best])))
            here->best = b;
    }
}

double robust_margin(const struct robust_question *q, const struct robust_here *here, size_t of)
{
    const struct robust_value *other = NULL, *v = here->values;
    for (size_t i = 0; i < q->answers; i++)
        if (i != of && v[i].state == ROBUST_STANDS && (!other || better(q, &v[i], other)))
            other = &v[i];
    if (of == ROBUST_NONE || !other || v[of].state != ROBUST_STANDS)
        return NAN;
    double margin = q->more_is_better ? v[of].value / other->value : other->value / v[of].value;
    return isfinite(margin) ? margin : NAN;
}
