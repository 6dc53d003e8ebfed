/* robust_say: what came of robust_run() as sentences and as JSON. names[answers]: what the answers are called. */
#ifndef REPLAY_ROBUST_ROBUST_SAY_H
#define REPLAY_ROBUST_ROBUST_SAY_H

#include <jansson.h>

#include "replay/robust/robust.h"

/* A place on an axis as --set reads it: "blocked", "13000", "0.31" (six digits). Returns buf. */
const char *robust_at(const struct platform_axis *axis, double value, char *buf, size_t size);

/* "robust: wins in 64 of 64 draws, and no number alone changes that"; "not robust: wins in 58 of 64 draws (12 of them
 * tied); flips when uvm.utlb=blocked"; of one that does not win as the platform is: "wins in 6 of 64 draws; would win
 * when uvm.utlb=blocked". Returns buf. */
const char *robust_say(const struct robust *robust, size_t answer, char *buf, size_t size);

/* "uvm.utlb=blocked; uvm.as=0.31", or "": where the answer's winning flips. Returns buf. */
const char *robust_say_flips(const struct robust *robust, size_t answer, char *buf, size_t size);

/* Of one answer: {"draws":64,"wins":58,"ties":12,"nominal":true,"flips":[{"number":"uvm.utlb","at":"blocked",
 * "wins":false,"best":"none"},..]}. best: what is best there; null: nothing stands. NULL: no memory. */
json_t *robust_answer_json(const struct robust *robust, size_t answer, const char *const *names);

/* Of all:
 * {"draws","seed","answers","wins","ties","ties_within","best","margin","unanswered","numbers":[{"number","unit","kind","low","high",
 * "value","low_margin","high_margin","low_best","high_best"},..]}: what figure `robust` draws. best: of the platform as
 * it is; margins: how far that one leads the best of the others, null where unknown. NULL: no memory. */
json_t *robust_json(const struct robust *robust, const char *const *names);

#endif
