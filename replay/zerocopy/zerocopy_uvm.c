#include "replay/zerocopy/zerocopy_uvm.h"

#include <stdlib.h>
#include <string.h>

#include "models/zerocopy/warp.h"
#include "replay/uvm/uvm_simulate.h"
#include "trace/base/mem.h"

/* A list as its pages are touched. */
struct list {
    uint64_t first, count;
};

struct zerocopy_uvm {
    const struct scan_setup *setup;
    struct list *lists;
    size_t count, cap;
    size_t *ends; /* of launches, in lists */
    size_t launches, launch_cap;
    struct actor_alloc allocs[2];
};

struct zerocopy_uvm *zerocopy_uvm_new(const struct scan_setup *setup, struct err *err)
{
    struct zerocopy_uvm *u = mem_zalloc(1, sizeof *u, err);
    if (!u)
        return NULL;
    u->setup = setup;
    for (size_t i = 0; i < setup->structure_count; i++) {
        const struct scan_structure *s = &setup->structures[i];
        u->allocs[i] =
            (struct actor_alloc){.bytes = s->elements * s->element, .advice = ACTOR_READ_MOSTLY, .host = true};
        memcpy(u->allocs[i].name, s->name, strnlen(s->name, sizeof u->allocs[i].name - 1));
    }
    actor_space_place(u->allocs, setup->structure_count);
    if (actor_space_init(u->allocs, setup->structure_count, err)) {
        free(u);
        return NULL;
    }
    return u;
}

void zerocopy_uvm_free(struct zerocopy_uvm *u)
{
    if (u) {
        free(u->lists);
        free(u->ends);
    }
    free(u);
}

int zerocopy_uvm_add(struct zerocopy_uvm *u, const struct scan *scans, size_t n, struct err *err)
{
    if (mem_grow((void **)&u->lists, &u->cap, u->count + n, sizeof *u->lists, err))
        return -1;
    for (size_t i = 0; i < n; i++)
        u->lists[u->count++] = (struct list){scans[i].first, scans[i].count};
    return u->count < UINT32_MAX ? 0 : err_set(err, "uvm_time=engine: too many lists");
}

int zerocopy_uvm_launch(struct zerocopy_uvm *u, struct err *err)
{
    size_t start = u->launches ? u->ends[u->launches - 1] : 0;
    if (u->count == start)
        return 0;
    if (mem_grow((void **)&u->ends, &u->launch_cap, u->launches + 1, sizeof *u->ends, err))
        return -1;
    u->ends[u->launches++] = u->count;
    return 0;
}

/* --- as actors: one warp for each list --- */

static const struct actor_alloc *allocs(const void *state, size_t *n)
{
    const struct zerocopy_uvm *u = state;
    *n = u->setup->structure_count;
    return u->allocs;
}

static uint32_t launches(const void *state)
{
    return (uint32_t)((const struct zerocopy_uvm *)state)->launches;
}

static size_t launch_start(const struct zerocopy_uvm *u, uint32_t launch)
{
    return launch ? u->ends[launch - 1] : 0;
}

static void launch(const void *state, uint32_t number, struct actor_launch *out)
{
    const struct zerocopy_uvm *u = state;
    uint32_t together = (uint32_t)(u->setup->threads_per_block / WARP_LANES);
    *out = (struct actor_launch){.kernel = "scan",
                                 .actors = (uint32_t)(u->ends[number] - launch_start(u, number)),
                                 .per_sm = 64,
                                 .together = together ? together : 1};
}

/* Step at->body: the pages of elements that ACTOR_LOADS pages hold, of every structure. Reading them takes no time. */
static int step(void *run, uint32_t number, uint32_t actor, struct actor_at *at, struct actor_step *out,
                struct err *err)
{
    (void)err;
    const struct zerocopy_uvm *u = run;
    const struct list *list = &u->lists[launch_start(u, number) + actor];
    uint32_t element = u->setup->structures[0].element;
    uint64_t per_step = (uint64_t)ACTOR_PAGE_BYTES / element * (ACTOR_LOADS / 2 - 1), from = at->body * per_step;
    if (from >= list->count)
        return 0;
    uint64_t n = list->count - from < per_step ? list->count - from : per_step;
    out->count = out->stores = out->instructions = out->sectors = out->compute_ns = 0;
    out->writes = 0;
    out->turns = 1;
    for (size_t i = 0; i < u->setup->structure_count; i++) {
        uint64_t size = u->setup->structures[i].element, first = (list->first + from) * size,
                 last = first + n * size - 1;
        for (uint64_t page = first / ACTOR_PAGE_BYTES; page <= last / ACTOR_PAGE_BYTES; page++)
            out->page[out->count++] = actor_page(&u->allocs[i], page * ACTOR_PAGE_BYTES);
    }
    out->accesses = out->count;
    at->body++;
    return 1;
}

static const struct actor_ops ops = {.allocs = allocs, .launches = launches, .launch = launch, .step = step};

int zerocopy_uvm_run(struct zerocopy_uvm *u, const struct gpu *gpu, const struct uvm_platform *platform,
                     uint64_t chunks, double *time_ns, double *moved_bytes, struct err *err)
{
    struct uvm_run run = {.ops = &ops,
                          .state = u,
                          .gpu = gpu,
                          .platform = platform,
                          .policy = uvm_policy_stock(),
                          .gpu_memory_bytes = (int64_t)(chunks * ACTOR_BLOCK_BYTES)};
    struct uvm_metrics metrics;
    if (uvm_simulate(&run, &metrics, err))
        return err_at(err, "uvm engine");
    *time_ns = (double)metrics.time_ns;
    *moved_bytes = (double)metrics.h2d_bytes;
    return 0;
}
