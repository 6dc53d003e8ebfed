/* The check of placement policies: tasks with made-up overheads. */
#include "models/own/own_check_parts.h"

static int placement_open(struct own_trial *t, struct err *err)
{
    (void)t;
    (void)err;
    return 0;
}

static int placement_step(struct own_trial *t, struct err *err)
{
    const struct placement_policy *p = (const struct placement_policy *)t->policy;
    struct placement_overheads o = {.idle_ms = random_below(&t->random, 1000) / 10.0,
                                    .pinned_idle_ms = random_below(&t->random, 1000) / 10.0,
                                    .cache_ms = random_below(&t->random, 1000) / 10.0,
                                    .margin_managed = (int)random_below(&t->random, 200) - 100,
                                    .margin_pinned = (int)random_below(&t->random, 200) - 100};
    for (int i = 0; i < PLACEMENTS; i++)
        o.ms[i] = random_below(&t->random, 100000) / 100.0;
    own_note_state(t);
    const enum placement place = p->choose(t->state, &o);
    if ((unsigned)place >= PLACEMENTS)
        return own_broken(t, "choose", err, "chooses %d, which is no placement", (int)place);
    if (own_same_state(t, "choose", err) || own_answer_number(t, "choose", place, err))
        return -1;
    return p->choose(t->state, &o) == place ? 0 : own_broken(t, "choose", err, "makes two choices for the same task");
}

static void placement_close(struct own_trial *t)
{
    (void)t;
}

const struct own_exam own_exam_placement = {
    .scene_size = 1, .steps = 256, .open = placement_open, .step = placement_step, .close = placement_close};
