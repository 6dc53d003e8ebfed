/* The check of zero-copy patterns: launches of made-up reads of every shape that the pattern is defined for, counted,
 * and expanded load by load. */
#include <string.h>

#include "models/own/own_check_parts.h"

enum { SCANS = 40 };

struct pattern_scene {
    struct pattern_view view;
    struct pattern_counter *counter;
    int launches; /* of this counter so far */
};

static const struct zerocopy_pattern *pattern_of(const struct own_trial *t)
{
    return (const struct zerocopy_pattern *)t->policy;
}

/* A shape of the pattern's, with the reuse rule that it takes by itself; REUSE_L1 cannot be expanded. */
static void choose_view(struct own_trial *t, struct pattern_view *view)
{
    const struct zerocopy_pattern *p = pattern_of(t);
    static const uint32_t elements[] = {4, 8, 16};
    unsigned shape = random_below(&t->random, 3);
    while (!(p->shapes >> shape & 1))
        shape = (shape + 1) % 3;
    *view = (struct pattern_view){.shape = (enum scan_shape)shape,
                                  .reuse = p->defaults[shape],
                                  .request = random_below(&t->random, 2) ? REQUEST_RUN : REQUEST_LINE,
                                  .element = elements[random_below(&t->random, 3)],
                                  .chunk = 1 + random_below(&t->random, 64),
                                  .row = 8 + random_below(&t->random, 60),
                                  .block_warps = 4};
    view->base = 4096 + (uint64_t)view->element * random_below(&t->random, 64);
    view->round = LINE_BYTES / view->element;
    if (view->reuse == REUSE_L1 || view->reuse == REUSE_AUTO || random_below(&t->random, 3) == 0)
        view->reuse = REUSE_NONE;
}

static int pattern_open(struct own_trial *t, struct err *err)
{
    if (!(pattern_of(t)->shapes & 7))
        return err_set(err, "policy %s: it is defined for no shape of reads", t->policy->name);
    return 0;
}

static size_t make_scans(struct own_trial *t, const struct pattern_view *view, struct scan *scans)
{
    if (view->shape == SCAN_ARRAY) {
        scans[0] = (struct scan){.count = 1 + random_below(&t->random, 20000)};
        return 1;
    }
    uint64_t at = random_below(&t->random, 1000), lane = random_below(&t->random, 100);
    for (size_t i = 0; i < SCANS; i++) {
        const uint64_t count = view->shape == SCAN_ROWS      ? view->row
                               : random_below(&t->random, 8) ? 1 + random_below(&t->random, 80)
                                                             : 1 + random_below(&t->random, 700);
        if (view->shape == SCAN_ROWS)
            at = view->row * random_below(&t->random, 5000);
        scans[i] = (struct scan){at, count, lane};
        at += count + (random_below(&t->random, 4) ? 0 : random_below(&t->random, 50));
        lane += view->shape == SCAN_ROWS ? 1 : 1 + random_below(&t->random, 2);
    }
    return SCANS;
}

/* The loads one by one against the counts. */
static int expand(struct own_trial *t, const struct scan *scans, size_t n, const struct pattern_count *count,
                  struct err *err)
{
    const struct pattern_scene *s = t->scene;
    struct coalescer c;
    struct pattern_carry carry;
    memset(&carry, 0, sizeof carry);
    coalescer_init(&c, s->view.reuse, NULL, NULL);
    c.request = s->view.request;
    int rc = pattern_of(t)->expand(&s->view, scans, n, &carry, &c, err);
    if (rc == 0 && s->view.shape == SCAN_ROWS)
        rc = pattern_of(t)->expand(&s->view, NULL, 0, &carry, &c, err);
    const struct request_mix mix = c.mix;
    coalescer_release(&c);
    if (rc)
        return err_at(err, "policy %s: expand()", t->policy->name);
    if (own_answer(t, "expand", &mix, sizeof mix, err))
        return -1;
    if (memcmp(&mix, &count->mix, sizeof mix) == 0)
        return 0;
    return own_broken(t, "count", err,
                      "does not say what expand() makes: %llu requests of %llu bytes, but %llu of %llu (shape %d, "
                      "elements of %u bytes)",
                      (unsigned long long)mix_requests(&count->mix), (unsigned long long)mix_payload(&count->mix),
                      (unsigned long long)mix_requests(&mix), (unsigned long long)mix_payload(&mix), (int)s->view.shape,
                      s->view.element);
}

/* A launch; a counter sees two. */
static int pattern_step(struct own_trial *t, struct err *err)
{
    struct pattern_scene *s = t->scene;
    const struct zerocopy_pattern *p = pattern_of(t);
    struct scan scans[SCANS];
    struct pattern_count count;
    memset(&count, 0, sizeof count);
    if (!s->counter) {
        choose_view(t, &s->view);
        s->counter = p->counter_new(&s->view, err);
        if (!s->counter)
            return err_at(err, "policy %s: counter_new()", t->policy->name);
    }
    const size_t n = make_scans(t, &s->view, scans);
    if (p->count(s->counter, scans, n, err) || p->finish(s->counter, &count, err))
        return err_at(err, "policy %s: count()", t->policy->name);
    const uint64_t counts[] = {count.loads, count.lane_loads, count.longest, count.longest_load};
    if (own_answer(t, "count", &count.mix, sizeof count.mix, err) ||
        own_answer(t, "finish", counts, sizeof counts, err) || expand(t, scans, n, &count, err))
        return -1;
    if (++s->launches % 2 == 0) {
        p->counter_free(s->counter);
        s->counter = NULL;
    }
    return 0;
}

static void pattern_close(struct own_trial *t)
{
    const struct pattern_scene *s = t->scene;
    if (s->counter)
        pattern_of(t)->counter_free(s->counter);
}

const struct own_exam own_exam_pattern = {.scene_size = sizeof(struct pattern_scene),
                                          .steps = 64,
                                          .open = pattern_open,
                                          .step = pattern_step,
                                          .close = pattern_close};
