/* robust: how far the order of several answers depends on platform numbers that nobody knows.
 *
 * A callback computes the answers (policies, mechanisms) for a platform, each with a value to be small (or large) and
 * the model's measured error. Then
 *     draws    all uncertain numbers at once, N times, from their ranges (platform.h): how many draws does each answer
 *              win? A draw is possible, not probable.
 *     flips    each number alone, to either end of its range: where does an answer begin or cease to win? Only ends
 *              are tried; bisection finds the crossing to 1/256 of the range; each name of a choice is tried.
 *     margins  the nominal winner's lead over the best other with each number alone at both ends: a tornado.
 *
 * Answer a beats b if a's worst end, times 1 + the larger error of the two, is better than b's best end; parts of both
 * that are wide for the same reason are left out. An answer wins if no other beats it: several may tie. Starved,
 * refused and unbounded answers neither win nor beat, nor does one that was skipped because another beats it. Worked
 * example: times 100, 110 and 130 with an error of 0.15: 100 x 1.15 = 115, so the first two win.
 *
 * The same question, draws and seed give the same bits with any number of threads. */
#pragma once

#include <jansson.h>

#include "models/base/platform.h"
#include "replay/run/engine.h"

enum robust_state {
    ROBUST_STANDS,
    ROBUST_STARVED,
    ROBUST_REFUSED,
    ROBUST_UNBOUNDED,
    ROBUST_BEATEN /* one that stands beats it, whatever it is, and two that stand are better */
};

/* One answer on one platform, not negative: a point where lo = hi; value: the best estimate within. */
struct robust_value {
    enum robust_state state;
    double value, lo, hi;
    double common; /* of the width, what others of the same recording have too, and then as much */
};

/* What is not finite, or negative, is unbounded. Of an interval the middle is the value. */
struct robust_value robust_point(double value);
struct robust_value robust_between(double lo, double hi);
/* Of a metric: what is not known is refused, what is at least so much beaten, an estimate unbounded. */
struct robust_value robust_metric(const struct metric_value *metric);

/* Whether a beats b, given the larger error of the two: else, if neither does, they tie. Whoever names a best asks. */
bool robust_beats(const struct robust_value *a, const struct robust_value *b, double error, bool more_is_better);

struct robust_question {
    const struct platform *platform;
    const char *const *sections; /* of the platform that the answers read, ends with NULL; NULL: all */
    size_t answers;
    const double *errors; /* of each answer the model's measured error, a ratio: 0.15; NULL: 0 */
    bool more_is_better;
    /* Fill values[answers] for that platform, which it may read and not keep. Called by several threads at once. -1
     * with *err set ends everything; what cannot be answered on one platform is a state, not a failure. */
    int (*answer)(void *ctx, const struct platform *platform, struct robust_value *values, struct err *err);
    void *ctx;
    uint32_t draws; /* may be 0: flips and margins only */
    uint64_t seed;
    int threads; /* at most this many; below 1: one */
};

/* A number that can be drawn, and what moving it alone does. */
struct robust_number {
    struct platform_axis axis; /* texts and rows are static */
    double margin[2];          /* at its low and high end: >1 the nominal winner leads, <1 it does not; NAN: unknown */
    size_t best[2];            /* the best answer there; ROBUST_NONE: none stands */
};

/* Moving one number alone from where it stands, an answer's winning changes at `at`. */
struct robust_flip {
    size_t number, answer;
    double at; /* the nearest value found at which it has changed */
    bool wins; /* there; else it did before */
    size_t best;
};

#define ROBUST_NONE ((size_t)-1)

struct robust {
    uint32_t draws;
    uint64_t seed;
    size_t answers;
    double *errors; /* of each answer, as asked with */
    uint32_t *wins; /* of each answer: draws in which nothing beats it */
    uint32_t *ties; /* of those, draws in which another wins too */
    bool *nominal;  /* of each answer: whether it wins on the platform as it is */
    size_t best;    /* the best answer there; ROBUST_NONE: none stands */
    double margin;  /* its lead there; NAN: there is no other */
    uint32_t none;  /* draws in which no answer stands */
    struct robust_number *numbers;
    size_t number_count;
    struct robust_flip *flips; /* by answer, then number, then low end before high end */
    size_t flip_count;
};

/* On failure there is nothing to release. */
int robust_run(struct robust *robust, const struct robust_question *question, struct err *err);
void robust_release(struct robust *robust); /* a zeroed one is allowed */

/* How often `answer` is called at least: once, for each draw, and for each number at its ends. */
size_t robust_calls(const struct robust_question *question);

/* Whether an answer wins as the platform is, in every draw, and no number alone flips that. */
bool robust_holds(const struct robust *robust, size_t answer);

/* --- what came of it, as sentences and as JSON. names[answers]: what the answers are called --- */

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

/* robust_draws, robust_wins and robust_ties of an answer, to its metrics. */
void robust_put_wins(const struct robust *robust, size_t answer, json_t **metrics);

/* --- of a request: the same on other platforms, one thread each, its files and recordings left out ---
 *
 * What decides is the first of the engine's ranks, differences within the model's measured error are ties. A policy
 * that is starved, that the engine refused (no value and no interval) or whose value is an estimate never wins. */

struct replay_robustness {
    struct robust robust; /* its answers are the listed policies */
    char **names;         /* their labels */
    char metric[64];
    bool more_is_better;
};

/* Fill result->robustness of a finished run, if the request asks for it, and say in a note of each policy what came. */
int replay_robust(const struct replay_request *request, struct replay_result *result, struct err *err);
void replay_robustness_free(struct replay_robustness *robustness); /* NULL is allowed */

/* The model's measured error of each listed policy, a ratio: what was asked for, the policy's own or the engine's. */
double replay_robust_error(const struct replay_result *result, size_t policy);

/* robust_draws, robust_wins, robust_ties: of every engine's runs with --robust; ends with a zeroed row. */
extern const struct metric replay_robust_metrics[];

/* To the JSON of a run, if it has any and is listed: "robust", and its metrics of --robust. */
void replay_robust_put_run(const struct replay_result *result, size_t run, json_t **object);

/* To the JSON of all: "robust", as robust_json() has it, with "metric" and "more_is_better". */
void replay_robust_put(const struct replay_result *result, json_t **root);

/* To the settings that make the case: "robust", the draws if any: a run with draws is not the one without. */
void replay_robust_put_settings(const struct replay_result *result, json_t **settings);
