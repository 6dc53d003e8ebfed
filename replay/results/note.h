/* note: sentences that reports and figures say beside what they show, as a JSON array of texts. */
#ifndef REPLAY_RESULTS_NOTE_H
#define REPLAY_RESULTS_NOTE_H

#include "replay/results/runs.h"

/* Add a sentence; one that is there already is not added again. notes: NULL: nobody listens. -1: no memory. */
int note(json_t *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Say which runs another release of offchip than this one made, and which release. -1: no memory. */
int run_set_note_foreign(const struct run_set *set, json_t *notes);

#endif
