/* verify_log: verify of a driver's log of faults (replay/uvm/uvm_fault_log.h). */
#ifndef REPLAY_VERIFY_VERIFY_LOG_H
#define REPLAY_VERIFY_VERIFY_LOG_H

#include "replay/verify/verify.h"

/* Fill the outcome, already initialised, and the verdict. */
int verify_log(struct verify *verify, struct store *store, struct err *err);

#endif
