/* save: the runs of a request into a results file. */
#ifndef REPLAY_SWEEP_SAVE_H
#define REPLAY_SWEEP_SAVE_H

#include "replay/results/results.h"
#include "replay/run/engine.h"

/* The runs of a finished request as they will stand in the file. Its texts are its own, except the engine's and the
 * policies' names, which never go away. */
struct save_point {
    struct results_run *runs;
    size_t count;
    char **texts;
    size_t text_count, text_cap;
};

/* position: of the first run, negative to append. On failure there is nothing to release. */
int save_point_init(struct save_point *point, const struct replay_request *request, const struct replay_result *result,
                    int64_t position, struct err *err);
void save_point_release(struct save_point *point);

/* Add all runs in one transaction. position: as above. */
int replay_save(struct results *results, const struct replay_request *request, const struct replay_result *result,
                int64_t position, struct err *err);

/* Whether every run that the prepared result would give is in the file: 1, 0 or -1 with *err set. */
int replay_saved(struct results *results, const struct replay_request *request, const struct replay_result *result,
                 struct err *err);

#endif
