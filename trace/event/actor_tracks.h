/* actor_tracks: the steps of actors, worked out once for several runs over the same ones.
 *
 * The steps of an actor, one after the other, with their pages counted from the first of them, are its track. The warps
 * of a grid mostly do the same some pages further on: their track is kept once, and an actor is the number of its track
 * and of its first page. What is kept is what step() of the actors says, to the bit.
 * Example: warps that load one page each and store to the page 1,000 further on are all one track, (0; 1,000): the warp
 * whose load is page 7 is track 0 from page 7 on.
 * A launch that is like one before it (struct actor_ops) has its tracks.
 * The steps of irregular actors are kept too, 4 B each, 4 B a page and once what else a step is; where that would take
 * more than a limit, or a step fails, nothing is kept. */
#pragma once

#include "trace/event/actor.h"

struct actor_tracks;

/* Bytes that may be kept by who works with so many threads: an eighth of the machine's memory, shared by its
 * processors. */
uint64_t actor_tracks_room(int threads);

/* The actors of ops and state, which must stay as they are; `threads` share the work. At most `most` bytes are kept.
 * NULL: they cannot be kept, or there is no memory: ask the actors themselves. */
struct actor_tracks *actor_tracks_open(const struct actor_ops *ops, const void *state, uint64_t most, int threads);
void actor_tracks_close(struct actor_tracks *tracks); /* NULL: nothing */

/* state: a const struct actor_tracks *. Runs have nothing of their own. */
extern const struct actor_ops actor_tracks_ops;
