/* compare_experiments: what to run on the machine itself, for the best row of each of the best mechanisms, and what its
 * result would prove.
 *
 * A time that is measured has no model's error, its rival's prediction has. With the rival's ends lo and hi and its
 * mechanism's measured error e (struct compare_row), a measured time
 *
 *     below  lo / (1 + e)   beats the rival at the best that the models allow it,
 *     above  hi x (1 + e)   is beaten by it at its worst,
 *     between               leaves it open until the rival is measured too.
 *
 * The rival of the first row is the best row of another mechanism, of all others the first row. An experiment can only
 * change the answer where the row's own ends, widened by its own error, reach over the nearer threshold. */
#ifndef REPLAY_COMPARE_COMPARE_EXPERIMENTS_H
#define REPLAY_COMPARE_COMPARE_EXPERIMENTS_H

#include "replay/compare/compare.h"

struct compare_experiment {
    size_t row, rival; /* of result->rows; no rival: both are the same */
    char command[1024];
    char measures[256];
    double lo, hi;      /* ns, predicted, the row's error in them */
    double wins, loses; /* ns: wins below, loses above; NAN: no rival */
    bool open;          /* a time that is predicted can change the answer */
    char settles[1024]; /* "uvm.utlb=blocked; ..": where the row's winning flips; "" if nothing was drawn, or nowhere */
};

/* The best row of each of the `most` best mechanisms; returns how many. rows: room for COMPARE_MECHANISMS. */
size_t compare_best_rows(const struct compare_result *result, size_t most, size_t *rows);

/* The experiment of a row that has an answer. False: nothing can be run, no driver does that. */
bool compare_experiment(const struct compare_result *result, size_t row, struct compare_experiment *x);

/* As sentences, each ended by a line's end. Returns buf. */
const char *compare_experiment_say(const struct compare_result *result, const struct compare_experiment *x, char *buf,
                                   size_t size);

/* [{"mechanism","policy","command","measures","predicted_ns":[lo,hi],"against":{"mechanism","policy"},"wins_below_ns",
 * "loses_above_ns","open","settles":[{"number","at","wins"}]},..] of so many mechanisms; without a rival "against" and
 * both thresholds are null. NULL: no memory. */
json_t *compare_experiments_json(const struct compare_result *result, size_t most);

#endif
