/* robust_inside: what the files of replay/robust share. */
#ifndef REPLAY_ROBUST_ROBUST_INSIDE_H
#define REPLAY_ROBUST_ROBUST_INSIDE_H

#include "replay/robust/robust.h"

/* All answers on one platform. */
struct robust_here {
    struct robust_value *values;
    bool *wins;
    size_t best;
};

/* -1 with *err set: there is nothing to release. */
int robust_ask(struct robust_here *here, const struct robust_question *question, const struct platform *platform,
               struct err *err);
void robust_here_release(struct robust_here *here);

/* Fill wins and best from the values. (in robust_wins.c, like the next) */
void robust_judge(const struct robust_question *question, struct robust_here *here);

/* How far answer `of` leads the best of the others: the ratio of their values; NAN if either does not stand. */
double robust_margin(const struct robust_question *question, const struct robust_here *here, size_t of);

/* What moving one number does. */
struct robust_walked {
    struct robust_number number;
    struct robust_flip *flips; /* at most two for each answer; `number` is not set */
    size_t flip_count;
};

/* Axis i of the platform, moved alone; nominal is where nothing is moved. */
int robust_walk(struct robust_walked *walked, const struct robust_question *question, size_t i,
                const struct robust_here *nominal, size_t nominal_best, struct err *err);

#endif
