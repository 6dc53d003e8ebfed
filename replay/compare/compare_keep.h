/* compare_keep: rows on their way to a results file, each written as soon as it is done, so that an interrupted
 * comparison goes on where it was.
 *
 * compare_keep_open (which adds the rows that stand in the file to the result), compare_keep_has, compare_keep_row and
 * compare_keep_stage while rows are computed, compare_keep_end when they are ranked; compare_keep_close. In a file that
 * is not replaced the comparison counts as a sweep that has not ended (results.h) until compare_keep_end(). Rows that
 * an engine refused together are asked for anew. */
#ifndef REPLAY_COMPARE_COMPARE_KEEP_H
#define REPLAY_COMPARE_COMPARE_KEEP_H

#include "replay/compare/compare_parts.h"

/* Stages of compare_rows(). compare_row.order is a row's place in its stage, behind all of the stages before. */
enum compare_stage { COMPARE_STAGE_MANAGED, COMPARE_STAGE_COPY, COMPARE_STAGE_ENGINES };

/* *keep is NULL where no results are asked for. -1 with *err set: nothing to close. */
int compare_keep_open(struct compare_keep **keep, const struct compare_facts *facts, struct compare_result *result,
                      struct err *err);
void compare_keep_close(
    struct compare_keep *keep); /* NULL is allowed; a replaced file that has not ended is as it was */

/* Whether such a row stood in the file. keep: NULL: no. */
bool compare_keep_has(const struct compare_keep *keep, enum compare_mechanism mechanism, const char *policy);

/* Whether any row of a mechanism did. */
bool compare_keep_has_any(const struct compare_keep *keep, enum compare_mechanism mechanism);

/* Write a row that is done; by any thread. keep: NULL: nothing to do, like the next two. */
int compare_keep_row(struct compare_keep *keep, const struct compare_result *result, const struct compare_row *row,
                     struct err *err);

/* A stage is over: its rows are those from `first` on; they get their order, and are written together. */
int compare_keep_stage(struct compare_keep *keep, struct compare_result *result, size_t first, enum compare_stage stage,
                       struct err *err);

/* All rows in the order that they have now; where some were drawn, these once more with what came of the draws. */
int compare_keep_end(struct compare_keep *keep, const struct compare_result *result, struct err *err);

#endif
