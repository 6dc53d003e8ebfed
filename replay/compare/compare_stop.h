/* compare_stop: rows that are far behind the best are not run to their end.
 *
 * The program prefetched whole is asked first. A row of unified or host memory that has taken more than COMPARE_NEAR
 * times as long stops: its time is at least that, whatever is left of it, and it is more than COMPARE_NEAR times the
 * best's, which is that row or a faster one. Nothing else is known of such a row; it stands behind those with a time.
 * Only where the whole memory fits, and where nothing but the table asks: draws of all rows, mixes, experiments and
 * results files have each row whole.
 * In a draw, of any program, a row of unified or host memory stops when it is beaten (replay/robust/robust.h) and
 * slower than two others: whoever asks who wins, and by how much the first leads, learns the same. Not the row that is
 * first where nothing is drawn: by how much it falls behind is asked. Example: prefetched 8.5 ms; 4 KiB a fault is
 * stopped when its kernels have run for 25.5 ms, which it takes to move a quarter of the data; run to its end it takes
 * 99 ms. */
#ifndef REPLAY_COMPARE_COMPARE_STOP_H
#define REPLAY_COMPARE_COMPARE_STOP_H

#include "replay/compare/compare_parts.h"

/* Whether rows of this program stop at all. */
bool compare_stops(const struct compare_facts *facts);

/* ns, by that run; 0: none stop. */
double compare_stop_ns(const struct compare_facts *facts, const struct uvm_metrics *prefetched);

/* ns, of a draw, by the rows that are there or as they were: one of unified memory that faults (COMPARE_MANAGED), or of
 * host memory (COMPARE_ZEROCOPY), that takes longer is beaten by one of them, and slower than two. 0: none stop. */
double compare_stop_drawn_ns(const struct compare_facts *facts, enum compare_mechanism mechanism,
                             const struct compare_result *result);

/* The row was stopped at `ns`: its time and the note. */
void compare_stop_row(struct compare_row *row, double ns);

#endif
