/* order: in which order the loads of a basic block are issued; a key of every Rodinia program.
 *
 * ptx: as nvcc's PTX has them, each value used where that code uses it (in-order simulators execute this).
 * hoisted: independent loads of a basic block first, then their uses, as machine code is expected to have it.
 * Worked example: a, b loaded and each stored to shared memory by the next instruction. ptx: load a (use 1), wait, load
 * b (before 1, use 1), wait. hoisted: load a, load b, wait for both.
 * Source: PTX order: GPGPU-Sim executes PTX in order; hoisted: assumed, the machine code was not inspected. */
#ifndef TRACE_WORKLOADS_RODINIA_ORDER_H
#define TRACE_WORKLOADS_RODINIA_ORDER_H

#include "trace/base/param.h"
#include "trace/program/program.h"

enum { RODINIA_BASE = 0xC0000000u, RODINIA_ALIGN = 256 }; /* explicit arrays: where they lie, on which boundaries */

enum rodinia_order { ORDER_PTX, ORDER_HOISTED };

#define RODINIA_ORDER_ROW(S)                                                                                           \
    PARAM_CHOICE_ROW(S, order, "ptx|hoisted", ORDER_PTX, "each value used as in PTX, or independent loads first")

/* The accesses from number `first` to the last one of the body are loads that do not depend on each other (other
 * accesses among them stay as they are): with ORDER_HOISTED no value is needed before the last of them is issued; with
 * ORDER_PTX nothing changes. Call it when a basic block's loads have been appended. */
void rodinia_order(struct program_body *body, uint32_t first, enum rodinia_order order);

#endif
