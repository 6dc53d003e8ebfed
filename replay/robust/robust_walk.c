/* One number alone, from where it stands to either end of its range. */
#include <math.h>
#include <stdlib.h>

#include "replay/robust/robust_inside.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"

/* A bracket no wider than this share of the range is a crossing. */
static const double narrow = 1. / 256;

/* A place on the axis that was asked. */
struct place {
    double value;
    struct robust_here here;
};

struct walk {
    const struct robust_question *question;
    const struct platform_axis *axis;
    size_t index; /* of the axis */
    struct place *places;
    size_t count, cap;
};

static struct platform *moved_to(const struct walk *w, double share, struct err *err)
{
    return platform_moved(w->question->platform, w->index, share, err);
}

/* The answers at a share of the axis, looked up where its value has been asked before; *here stays the walk's. */
static int ask(struct walk *w, double share, struct robust_here *here, struct err *err)
{
    double value = platform_axis_at(w->axis, share);
    for (size_t i = 0; i < w->count; i++)
        if (w->places[i].value == value) {
            *here = w->places[i].here;
            return 0;
        }
    if (mem_grow((void **)&w->places, &w->cap, w->count + 1, sizeof *w->places, err))
        return -1;
    struct platform *moved = moved_to(w, share, err);
    struct place *place = &w->places[w->count];
    place->value = value;
    int rc = moved ? robust_ask(&place->here, w->question, moved, err) : -1;
    platform_free(moved);
    if (rc) {
        char name[96];
        return err_at(err, "with %s = %.6g", platform_axis_name(w->axis, name, sizeof name), value);
    }
    w->count++;
    *here = place->here;
    return 0;
}

/* Between `from`, where the answer's winning is `before`, and `to`, where it is not: the nearest share known to differ.
 */
static int bisect(struct walk *w, size_t answer, bool before, double from, double *to, struct err *err)
{
    while (fabs(*to - from) > narrow) {
        struct robust_here here;
        double middle = (from + *to) / 2;
        if (ask(w, middle, &here, err))
            return -1;
        if (here.wins[answer] == before)
            from = middle;
        else
            *to = middle;
    }
    return 0;
}

/* The first name of a choice, from where it stands towards `end`, at which the answer's winning is not `before`. */
static int step(struct walk *w, size_t answer, bool before, double end, double *share, bool *found, struct err *err)
{
    double last = platform_axis_at(w->axis, end), by = last > w->axis->value ? 1 : -1;
    for (double value = w->axis->value; value != last && !*found;) {
        struct robust_here here;
        value += by;
        *share = platform_axis_share(w->axis, value);
        if (ask(w, *share, &here, err))
            return -1;
        *found = here.wins[answer] != before;
    }
    return 0;
}

/* Where one answer flips on the way to an end (share 0 or 1), if it does. */
static int flip(struct walk *w, struct robust_walked *walked, const struct robust_here *nominal, size_t answer,
                double end, struct err *err)
{
    struct robust_here here;
    bool before = nominal->wins[answer], found = false;
    double share = end;
    if (w->axis->row && w->axis->row->type == PARAM_CHOICE) {
        if (step(w, answer, before, end, &share, &found, err))
            return -1;
    } else if (ask(w, end, &here, err)) {
        return -1;
    } else if ((found = here.wins[answer] != before)) {
        if (bisect(w, answer, before, platform_axis_share(w->axis, w->axis->value), &share, err))
            return -1;
    }
    if (!found)
        return 0;
    if (ask(w, share, &here, err))
        return -1;
    walked->flips[walked->flip_count++] = (struct robust_flip){
        .answer = answer, .at = platform_axis_at(w->axis, share), .wins = here.wins[answer], .best = here.best};
    return 0;
}

static int walk_to(struct walk *w, struct robust_walked *walked, const struct robust_here *nominal, int end,
                   size_t best, struct err *err)
{
    struct robust_here here = *nominal;
    bool there = platform_axis_at(w->axis, end) == w->axis->value;
    if (!there && ask(w, end, &here, err))
        return -1;
    walked->number.margin[end] = robust_margin(w->question, &here, best);
    walked->number.best[end] = here.best;
    for (size_t a = 0; a < w->question->answers && !there; a++)
        if (flip(w, walked, nominal, a, end, err))
            return -1;
    return 0;
}

int robust_walk(struct robust_walked *walked, const struct robust_question *question, size_t i,
                const struct robust_here *nominal, size_t nominal_best, struct err *err)
{
    struct walk w = {.question = question, .axis = &walked->number.axis, .index = i};
    *walked = (struct robust_walked){.flips = mem_zalloc(2 * question->answers, sizeof *walked->flips, err)};
    int rc = walked->flips ? 0 : -1;
    if (!rc && !platform_axis(question->platform, i, &walked->number.axis))
        rc = err_set(err, "there is no number %zu to move", i);
    for (int end = 0; end < 2 && !rc; end++)
        rc = walk_to(&w, walked, nominal, end, nominal_best, err);
    for (size_t p = 0; p < w.count; p++)
        robust_here_release(&w.places[p].here);
    free(w.places);
    if (rc) {
        free(walked->flips);
        walked->flips = NULL;
    }
    return rc;
}
