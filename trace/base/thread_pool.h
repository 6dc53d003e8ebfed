/* thread_pool: threads that share pieces of work and sleep in between.
 *
 * For work in many short turns with something serial before each. OpenMP's threads spin between turns, which costs a
 * fifth to a quarter of a traversal's processor time, and two thirds of it beside other programs.
 *
 *     struct thread_pool *pool = thread_pool_open(threads);
 *     thread_pool_run(pool, pieces, fn, ctx);
 *     thread_pool_close(pool);
 *
 * fn(ctx, 0) to fn(ctx, pieces - 1) are called once each, by any free thread, the caller among them. The caller sees
 * what fn wrote when thread_pool_run() returns. */
#pragma once

#include <stddef.h>

struct thread_pool;

/* `threads` in all, the caller counted; where the system gives fewer, fewer. NULL: there is no memory, or 1 was asked
 * for; thread_pool_run() then does all of it in the caller. */
struct thread_pool *thread_pool_open(int threads);
void thread_pool_close(struct thread_pool *crew); /* NULL is allowed */

/* How many threads there can be now, the caller counted: at most `wanted` and 8 for each processor. Where fewer can be
 * made than that, half of those, which leaves memory for the work. */
int thread_pool_limit(int wanted);

void thread_pool_run(struct thread_pool *crew, size_t pieces, void (*fn)(void *ctx, size_t piece), void *ctx);
