/* dram_programs: front end `corun` of programs: a GPU program beside a PIM program, or another GPU program, each also
 * alone; all channels, multiprocessors and L2 in one simulation (replay/dram/dram_simulation.h).
 *
 * A PIM program has pim_sms multiprocessors, a second GPU program mem2_sms, the first GPU program those that are left;
 * alone it has all of them. Times alone are those under f3fs with its default caps and one virtual channel. Both repeat
 * until each is done once (`loop=`). Programs are cut to about `cut` requests: GPU programs by whole waves of blocks
 * (trace/program/cut.h), and where one is more than twice too much by the middle of each warp (trace/program/middle.h);
 * PIM programs by the first operations of each warp (trace/program/prefix.h). Collaborative
 * work, two programs of one input, is done once and not cut: that would change what one side is to the other. Times are
 * DRAM cycles; nothing depends on how many threads run the policies. */
#ifndef REPLAY_DRAM_DRAM_PROGRAMS_H
#define REPLAY_DRAM_DRAM_PROGRAMS_H

#include "replay/dram/dram.h"

/* Every input is a program: dram_sides_are() (replay/dram/dram_sides.h). */
int dram_programs_replay(const struct replay_job *job, struct outcome *runs, struct err *err);

#endif
