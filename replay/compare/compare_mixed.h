/* compare_mixed: a mechanism for each allocation. Some are in GPU memory before the first kernel, the rest is read over
 * the link or managed. Looked for where memory is short, or where it is asked for: with room for all, no mix of 31
 * programs of the tree on an H200 was more than 8 % faster than one mechanism for all. A row appears only where it is
 * faster than every one of those by more than the errors. Each mix is one run of one engine (compare_mixed_judges.c):
 *
 *   MIX_LINK     copied, the rest zero-copy: the program's reads simulated with that memory on the GPU
 *                (models/zerocopy/host_reads.h), behind the copies; that simulation has a latency for memory of the
 *                GPU but nothing else of it, so a launch takes no less than its requests and than with all of its
 *                memory there, and no more than simulated: an interval
 *   MIX_MANAGED  copied, the rest managed, where memory is short: the uvm engine with that memory taken off
 *
 * Copies come before the first kernel, by the link's rule, as the mechanism copy has them; what the CPU takes back
 * between kernels besides. Managed beside zero-copy memory is asked of nobody: remote pages of the uvm engine have no
 * cache and send stores as reads, so its times are a quarter to twice those of the zero-copy engine (docs/compare.md).
 */
#ifndef REPLAY_COMPARE_COMPARE_MIXED_H
#define REPLAY_COMPARE_COMPARE_MIXED_H

#include "replay/compare/compare_parts.h"

enum mix_kind { MIX_LINK, MIX_MANAGED };

enum { MIX_UNITS = 6 }; /* allocations that are told apart, the largest; the last of more are one */

/* Allocations that share a mechanism. */
struct mix_unit {
    char name[32];
    uint64_t members; /* bits of facts->totals.allocs */
    uint64_t bytes;
};

struct mixing {
    const struct compare_facts *facts;
    enum mix_kind kind;
    struct mix_unit units[MIX_UNITS];
    size_t count;
    double slower; /* a launch with all memory on the GPU takes so many times what it takes by the issue model */
};

/* An assignment and what its engine says. */
struct mix {
    uint32_t ahead; /* bit i: unit i is on the GPU before the first kernel */
    bool asked, failed;
    double time;   /* ns: as its engine has it, stores of MIX_LINK beside the reads */
    double lo, hi; /* MIX_LINK: requests beside kernels, at no latency; all as simulated, stores behind it */
    double h2d, d2h, back_ns, gpu_bytes, copy_ns;
    struct uvm_managed_did did; /* of a run of the uvm engine */
    struct err err;             /* of a failure */
};

/* Bits of facts->totals.allocs that are on the GPU, and their bytes. */
uint64_t mix_members(const struct mixing *m, uint32_t ahead);
double mix_bytes(const struct mixing *m, uint32_t ahead);

/* Copies of those allocations alone. -1 with *err set: out of memory. */
int mix_copies(const struct compare_facts *facts, uint64_t members, struct program_copies *copies, struct err *err);
double mix_copies_ns(const struct compare_facts *facts, const struct program_copies *copies);

/* Ask the engine; mix->ahead is set. */
void mix_ask(const struct mixing *m, struct mix *mix);

#endif
