/* dram_corun: front end `corun` of streams of requests that are no programs: a GPU kernel's beside a PIM kernel's (or
 * another GPU kernel's), each also alone. Programs: replay/dram/dram_programs.h.
 *
 * Every channel is a run of its own (replay/dram/dram_window.h). Times alone are those under f3fs with its default
 * caps, one virtual channel and, for a GPU kernel, all multiprocessors; beside a PIM kernel, or a GPU kernel on few of
 * them, it has those that are left, its rate and window go with (share of multiprocessors) ^ 0.6 (from figure 4 of
 * gupta-2025-f3fs: GPU-8 over GPU-80). */
#ifndef REPLAY_DRAM_DRAM_CORUN_H
#define REPLAY_DRAM_DRAM_CORUN_H

#include "replay/dram/dram.h"

int dram_corun_replay(const struct replay_job *job, struct outcome *runs, struct err *err);

#endif
