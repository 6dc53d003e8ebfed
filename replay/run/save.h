/* save: the runs of a request into a results file. */
#pragma once

#include "replay/results/results.h"
#include "replay/run/engine.h"

/* The runs of a finished request as they will stand in the file, with the texts that they point at. */
struct save_point {
    struct results_run *runs;
    size_t count;
    struct mem_texts texts;
    bool failed; /* a text could not be had */
};

/* position: of the first run, negative to append. On failure there is nothing to release. */
int save_point_init(struct save_point *point, const struct replay_request *request, const struct replay_result *result,
                    int64_t position, struct err *err);
void save_point_release(struct save_point *point);

/* Texts that the point owns: a copy (NULL: ""), or a JSON value, which is taken over. save_point_check(): whether all
 * are. */
const char *save_text(struct save_point *point, const char *text);
const char *save_json(struct save_point *point, json_t *value);
int save_point_check(const struct save_point *point, struct err *err);

/* Add all runs in one transaction. position: as above. */
int replay_save(struct results *results, const struct replay_request *request, const struct replay_result *result,
                int64_t position, struct err *err);

/* Whether every run that the prepared result would give is in the file: 1, 0 or -1 with *err set. */
int replay_saved(struct results *results, const struct replay_request *request, const struct replay_result *result,
                 struct err *err);

/* save_queue: a thread that writes finished points to a results file, many in one transaction: nobody waits for it.
 *
 * save_queue_open, then from any thread save_queue_has and save_queue_add, then save_queue_close. */

/* A point is on the disk at most about this long after it was added: what a killed program may have to run again. */
enum { SAVE_QUEUE_MS = 200 };

struct save_queue;

/* results is the queue's until it is closed. Before the first point is written, results_sweep_begin() is called for
 * `sweep` (NULL: none) of so many points. NULL with *err set on failure. */
struct save_queue *save_queue_open(struct results *results, const char *sweep, int64_t points, struct err *err);

/* After each transaction tell how many points it wrote, by the queue's thread; before the first is added. */
void save_queue_tell(struct save_queue *queue, void (*wrote)(void *arg, size_t points), void *arg);

/* replay_saved() of the file. */
int save_queue_has(struct save_queue *queue, const struct replay_request *request, const struct replay_result *result,
                   struct err *err);

/* The point is the queue's from here on. -1 with *err set if writing failed before, then the point is released. */
int save_queue_add(struct save_queue *queue, struct save_point *point, struct err *err);

/* Write what is left and free the queue; -1 with *err set if anything could not be written. NULL is allowed. */
int save_queue_close(struct save_queue *queue, struct err *err);
