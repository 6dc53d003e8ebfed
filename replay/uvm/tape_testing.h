/* A recorder for tests: a program given as batches of touched pages runs under a policy, and the migration records that
 * CUPTI would give are made, with the truth beside them. */
#pragma once

#include "models/policies.h"
#include "replay/uvm/uvm_recording.h"
#include "trace/base/param_value.h"
#include "trace/base/testing.h"
#include "trace/event/record.h"

enum { TAPE_BLOCKS = 64, TAPE_RECORDS = 200000 };

struct tape {
    const struct uvm_policy *policy;
    void *state;
    struct uvm_block blocks[TAPE_BLOCKS];
    struct record *records;
    size_t count;
    int64_t now;
    uint64_t faults, batches, services, bytes; /* the truth under this policy */
};

/* A policy by its name; *state gets its state with the parameters stored, which the caller frees. setting: "name=value"
 * of them, or NULL. */
static inline const struct uvm_policy *tape_policy(const char *name, const char *setting, void **state)
{
    const struct uvm_policy *policy = (const struct uvm_policy *)policy_find(uvm_policies, name);
    *state = calloc(1, policy->head.state_size + 1);
    param_defaults(policy->head.params, *state);
    if (setting) {
        char key[64];
        (void)snprintf(key, sizeof key, "%.*s", (int)strcspn(setting, "="), setting);
        ck_assert_int_eq(param_set(policy->head.params, *state, key, strchr(setting, '=') + 1, NULL), 0);
    }
    return policy;
}

/* `first_addr` is 2 MiB-aligned; the memory ends after `bytes`. setting: as above. */
static inline void tape_init(struct tape *t, const char *policy, const char *setting, uint64_t first_addr,
                             uint64_t bytes)
{
    *t = (struct tape){.now = 1000000};
    t->policy = tape_policy(policy, setting, &t->state);
    t->records = calloc(TAPE_RECORDS, sizeof *t->records);
    ck_assert(!t->policy->init || t->policy->init(t->state, NULL) == 0);
    for (uint64_t b = 0; b < TAPE_BLOCKS && b * UVM_BLOCK_BYTES < bytes; b++) {
        uint64_t end = (b + 1) * UVM_BLOCK_BYTES < bytes ? (b + 1) * UVM_BLOCK_BYTES : bytes;
        uvm_block_init(&t->blocks[b], first_addr + b * UVM_BLOCK_BYTES, first_addr + end);
    }
}

static inline void tape_release(struct tape *t)
{
    free(t->state);
    free(t->records);
}

static inline void tape_add(struct tape *t, struct record record)
{
    ck_assert_uint_lt(t->count, TAPE_RECORDS);
    t->records[t->count++] = record;
}

/* The records at once, as a recording. */
static inline void tape_load(const struct tape *t, struct uvm_recording *r)
{
    uvm_recording_init(r);
    ck_assert_int_eq(uvm_recording_add(r, t->records, t->count, NULL), 0);
    ck_assert_int_eq(uvm_recording_finish(r, NULL), 0);
}

/* The recording names the allocation. */
static inline void tape_allocation(struct tape *t, uint64_t addr, uint64_t bytes)
{
    tape_add(t, (struct record){.kind = RECORD_ALLOC, .addr = addr, .bytes = bytes, .flags = RECORD_ALLOC_MANAGED});
}

/* The CPU writes every page in order first: its faults are recorded. */
static inline void tape_cpu_writes(struct tape *t)
{
    const int64_t threshold_and_faults[2] = {51, 1};
    for (int b = 0; b < TAPE_BLOCKS && t->blocks[b].end; b++) {
        struct uvm_block cpu = t->blocks[b];
        for (unsigned p = cpu.first; p < cpu.end; p++) {
            struct page_mask f = {{0}}, plan;
            if (page_mask_test(&cpu.resident, p))
                continue;
            page_mask_set(&f, p);
            uvm_tree.plan(threshold_and_faults, &cpu, &f, &plan);
            page_mask_or(&plan, &plan, &f);
            page_mask_or(&cpu.resident, &cpu.resident, &plan);
            tape_add(t, (struct record){.kind = RECORD_CPU_FAULT,
                                        .time = t->now,
                                        .addr = uvm_block_addr(&cpu, p),
                                        .flags = RECORD_WRITE});
            t->now += 1000;
        }
    }
}

/* One service's records, piece after piece. */
static inline void tape_service(struct tape *t, const struct uvm_block *block, const struct page_mask *faulted,
                                const struct page_mask *plan)
{
    struct page_mask all;
    page_mask_or(&all, faulted, plan);
    for (unsigned p = page_mask_next(&all, 0); p < PAGE_MASK_PAGES;) {
        bool f = page_mask_test(faulted, p);
        unsigned end = page_mask_next_clear(f ? faulted : plan, p);
        tape_add(t, (struct record){.kind = RECORD_MIGRATE_H2D,
                                    .time = t->now,
                                    .duration = 2500 + (end - p) * 100,
                                    .addr = uvm_block_addr(block, p),
                                    .bytes = (uint64_t)(end - p) * UVM_PAGE_BYTES,
                                    .flags = f ? RECORD_CAUSE_FAULT : RECORD_CAUSE_PREFETCH});
        t->now += 2500 + (end - p) * 100;
        p = page_mask_next(&all, end);
    }
}

/* One batch: touched[b] are the pages of block b; those that are resident do not fault. */
static inline void tape_batch(struct tape *t, const struct page_mask touched[TAPE_BLOCKS])
{
    int64_t start = t->now;
    uint64_t addr = 0;
    struct uvm_batch_block served[TAPE_BLOCKS];
    size_t n = 0;
    t->now += 5000;
    for (unsigned b = 0; b < TAPE_BLOCKS; b++) {
        struct uvm_block *block = &t->blocks[b];
        struct page_mask faulted, plan;
        page_mask_andnot(&faulted, &touched[b], &block->resident);
        if (!page_mask_any(&faulted))
            continue;
        t->policy->plan(t->state, block, &faulted, &plan);
        tape_service(t, block, &faulted, &plan);
        addr = uvm_block_addr(block, page_mask_next(&faulted, 0));
        served[n++] = (struct uvm_batch_block){.number = b, .faults = page_mask_count(&faulted)};
        t->faults += page_mask_count(&faulted);
        t->services++;
        t->bytes += (uint64_t)(page_mask_count(&faulted) + page_mask_count(&plan)) * UVM_PAGE_BYTES;
        page_mask_or(&block->resident, &block->resident, &faulted);
        page_mask_or(&block->resident, &block->resident, &plan);
        t->now += 1700;
    }
    if (!n)
        return;
    t->batches++;
    if (t->policy->on_batch_end)
        t->policy->on_batch_end(t->state, &(struct uvm_batch){.blocks = served, .block_count = n});
    tape_add(t, (struct record){.kind = RECORD_FAULT,
                                .time = start,
                                .duration = t->now - start,
                                .addr = addr,
                                .bytes = 1,
                                .flags = RECORD_READ});
    t->now += 60000;
}

/* `streams` arrays are swept at one pace: each batch touches `pages` new pages of each. */
static inline void tape_sweep(struct tape *t, unsigned blocks, unsigned streams, unsigned pages)
{
    unsigned per_stream = blocks / streams * UVM_BLOCK_PAGES;
    for (unsigned at = 0; at < per_stream; at += pages) {
        struct page_mask touched[TAPE_BLOCKS] = {0};
        for (unsigned s = 0; s < streams; s++)
            for (unsigned p = at; p < at + pages && p < per_stream; p++)
                page_mask_set(&touched[s * (blocks / streams) + p / UVM_BLOCK_PAGES], p % UVM_BLOCK_PAGES);
        tape_batch(t, touched);
    }
}

/* `batches` of `pages` random pages each, from a seed; a page may come again. */
static inline void tape_random(struct tape *t, unsigned blocks, unsigned batches, unsigned pages, uint64_t seed)
{
    for (unsigned k = 0; k < batches; k++) {
        struct page_mask touched[TAPE_BLOCKS] = {0};
        for (unsigned i = 0; i < pages; i++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            unsigned page = (unsigned)(seed >> 33) % (blocks * UVM_BLOCK_PAGES);
            page_mask_set(&touched[page / UVM_BLOCK_PAGES], page % UVM_BLOCK_PAGES);
        }
        tape_batch(t, touched);
    }
}
