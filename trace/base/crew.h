/* crew: threads that share out pieces of work and sleep in between.
 *
 * For work that comes in many short turns with something serial before each: OpenMP's threads spin while they wait for
 * the next turn, which cost a fifth to a quarter of a traversal's processor time, and two thirds of it where others use
 * the processors too.
 *
 *     struct crew *crew = crew_open(threads);
 *     crew_run(crew, pieces, fn, ctx);
 *     crew_close(crew);
 *
 * fn(ctx, 0) to fn(ctx, pieces - 1) are called once each, by whichever thread is free.
 * One thread calls; it works, too. What fn wrote is seen by the caller when crew_run() returns. */
#ifndef TRACE_BASE_CREW_H
#define TRACE_BASE_CREW_H

#include <stddef.h>

struct crew;

/* `threads` in all, the caller counted; where the system gives fewer, fewer. NULL: there is no memory, or 1 was asked
 * for; crew_run() then does all of it in the caller. */
struct crew *crew_open(int threads);
void crew_close(struct crew *crew); /* NULL is allowed */

void crew_run(struct crew *crew, size_t pieces, void (*fn)(void *ctx, size_t piece), void *ctx);

#endif
