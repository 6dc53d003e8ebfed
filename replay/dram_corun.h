#ifndef REPLAY_DRAM_CORUN_H
#define REPLAY_DRAM_CORUN_H
#include "replay/dram.h"
int dram_corun_replay(const struct replay_job *job, struct outcome *runs, struct err *err);
#endif
