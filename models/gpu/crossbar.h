/* crossbar: which input's first packet goes to which output, cycle by cycle.
 *
 * Each input shows the packet at its head: for one output, of one class. In a cycle each output takes at most one: the
 * outputs have their turn in order, each looks at the inputs round robin from the one after it took last, and takes the
 * first head that is for it and for whose class it has room, which the caller says when it changes. An input whose head
 * was taken shows the next one, which an output further on can take in the same cycle: an input has no limit. Only
 * heads count: a head whose output has no room holds up all behind it. Worked example, heads of inputs 0 to 2 for
 * outputs 1, 1, 0: output 0 takes input 2's, output 1 takes input 0's; next cycle output 1 looks from input 1 on and
 * takes that one. Source: gupta-2025-f3fs; GPGPU-Sim-4.0.1 branch ISPASS_2025, local_interconnect.cc (iSLIP variant),
 * read as data. Differs: there an input has a queue for each virtual channel and tries the one after the last sent
 * first; here an input is a multiprocessor, which runs one program and so sends one class. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"

enum { CROSSBAR_CLASSES = 2 };

struct crossbar {
    uint32_t inputs, outputs;
    uint32_t words, out_words; /* of a mask of inputs, of outputs */
    uint64_t *heads;           /* by output and class: inputs whose head is for it */
    uint64_t *wanted;          /* by class: outputs that any head of it is for; */
    uint64_t *room;            /* outputs that have room for it */
    uint32_t *first;           /* by output: where it looks first */
    int32_t *output;           /* by input: of the head it shows, -1: none */
    uint8_t *class;            /* and that head's class */
};

/* Every output has room. Released after failure too. */
int crossbar_init(struct crossbar *x, uint32_t inputs, uint32_t outputs, struct err *err);
void crossbar_release(struct crossbar *x);

/* Input shows a packet at its head; it showed none. */
void crossbar_show(struct crossbar *x, uint32_t input, uint32_t output, uint32_t class);

/* Whether an output has room for a class from now on. */
static inline void crossbar_set_room(struct crossbar *x, uint32_t output, uint32_t class, bool room)
{
    uint64_t *word = &x->room[class * x->out_words + output / 64];
    const uint64_t bit = UINT64_C(1) << output % 64;
    *word = room ? *word | bit : *word & ~bit;
}

/* The next output, from `from` on, that can take a head; -1: none further on. */
int32_t crossbar_next(const struct crossbar *x, uint32_t from);

/* That output takes a head for which it has room: returns the input, which then shows nothing, or -1. */
int32_t crossbar_take(struct crossbar *x, uint32_t output);

/* Whether no input shows anything. */
bool crossbar_empty(const struct crossbar *x);
