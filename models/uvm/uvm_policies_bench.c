/* Services per second of every UVM policy: plan() alone, on one core, over services as a thrashing random program and a
 * sequential one make them. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "models/uvm/uvm_policy.h"
#include "trace/base/param_value.h"

enum { CASES = 4096, ROUNDS = 200 };

static struct uvm_block blocks[CASES];
static struct page_mask faults[CASES];

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

/* One fault somewhere in a block of a few resident 64 KiB regions, or 44 faults ahead of a sweep. */
static void make_cases(bool sequential)
{
    uint64_t seed = 42;
    for (int i = 0; i < CASES; i++) {
        uvm_block_init(&blocks[i], 0, UVM_BLOCK_BYTES);
        page_mask_zero(&faults[i]);
        if (sequential) {
            unsigned at = (unsigned)(next(&seed) % 4) * 128;
            page_mask_set_region(&blocks[i].resident, 0, at);
            for (int k = 0; k < 44; k++)
                page_mask_set(&faults[i], at + (unsigned)(next(&seed) % 128));
        } else {
            for (int k = 0; k < 6; k++) {
                unsigned big = (unsigned)(next(&seed) % 32) * 16;
                page_mask_set_region(&blocks[i].resident, big, big + 16);
            }
            unsigned p;
            do
                p = (unsigned)(next(&seed) % 512);
            while (page_mask_test(&blocks[i].resident, p));
            page_mask_set(&faults[i], p);
        }
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
    for (int sequential = 0; sequential < 2; sequential++) {
        make_cases(sequential);
        const struct uvm_policy *p;
        for (size_t i = 0; (p = uvm_policy_of(uvm_policies[i])); i++) {
            void *state = calloc(1, p->head.state_size + 1);
            param_defaults(p->head.params, state);
            if (!state || (p->init && p->init(state, NULL) != 0))
                return 1;
            struct page_mask plan;
            uint64_t pages = 0;
            double start = seconds();
            for (int r = 0; r < ROUNDS; r++)
                for (int k = 0; k < CASES; k++) {
                    p->plan(state, &blocks[k], &faults[k], &plan);
                    pages += plan.w[0];
                }
            double spent = seconds() - start;
            printf("uvm plan %-18s %-12s %7.1f M services/s (check %08llx)\n", p->head.name,
                   sequential ? "44 faults" : "1 fault", 1e-6 * ROUNDS * CASES / spent,
                   (unsigned long long)(pages & 0xFFFFFFFF));
            free(state);
        }
    }
    return 0;
}
