/* replay_robust: how far the order of a request's policies rests on unknown numbers of the platform
 * (replay/run/robust.h): the same request on other platforms, one thread each, its files and recordings left out.
 *
 * What decides is the first of the engine's ranks, differences within the model's measured error are ties. A policy
 * that is starved, that the engine refused (no value and no interval) or whose value is an estimate never wins. */
#ifndef REPLAY_RUN_REPLAY_ROBUST_H
#define REPLAY_RUN_REPLAY_ROBUST_H

#include "replay/run/engine.h"
#include "replay/run/robust.h"

struct replay_robustness {
    struct robust robust; /* its answers are the listed policies */
    char **names;         /* their labels */
    char metric[64];
    bool more_is_better;
};

/* Fill result->robustness of a finished run and say of each policy, in a note, what came of it. Nothing to do unless
 * the request asks. */
int replay_robust(const struct replay_request *request, struct replay_result *result, struct err *err);
void replay_robustness_free(struct replay_robustness *robustness); /* NULL is allowed */

/* The model's measured error of each listed policy, a ratio: what was asked for, the policy's own or the engine's. */
double replay_robust_error(const struct replay_result *result, size_t policy);

/* robust_draws, robust_wins, robust_ties: metrics that runs of every engine have with --robust; ends with a zeroed row.
 */
extern const struct metric replay_robust_metrics[];

/* To the JSON of a run: "robust", and among its metrics "robust_draws", "robust_wins" and "robust_ties". Nothing
 * without robustness, or of a baseline that is not listed. */
int replay_robust_put_run(const struct replay_result *result, size_t run, json_t *object);

/* To the JSON of all: "robust", as robust_json() has it, with "metric" and "more_is_better". */
int replay_robust_put(const struct replay_result *result, json_t *root);

/* To the settings that make the case: "robust" (draws), where there are any: a run with draws is not the one without.
 */
int replay_robust_put_settings(const struct replay_result *result, json_t *settings);

#endif
