#include "trace/event/actor.h"

#include <string.h>

void actor_space_place(struct actor_alloc *allocs, size_t n)
{
    uint64_t addr = 0x7f0000000000; /* where the driver puts managed memory on x86-64 */
    for (size_t i = 0; i < n; i++) {
        allocs[i].addr = addr;
        addr += (allocs[i].bytes + ACTOR_BLOCK_BYTES - 1) / ACTOR_BLOCK_BYTES * ACTOR_BLOCK_BYTES;
    }
}

int actor_space_init(struct actor_alloc *allocs, size_t n, struct err *err)
{
    uint64_t block = 0;
    for (size_t i = 0; i < n; i++) {
        struct actor_alloc *a = &allocs[i];
        if (a->bytes == 0 || a->bytes > 1ull << 43)
            return err_set(err, "allocation '%s' has %llu bytes; expected 1 byte to 8 TiB", a->name,
                           (unsigned long long)a->bytes);
        if (a->addr % ACTOR_PAGE_BYTES)
            return err_set(err, "allocation '%s' starts at 0x%llx, which is no page boundary", a->name,
                           (unsigned long long)a->addr);
        uint64_t lead = a->addr % ACTOR_BLOCK_BYTES / ACTOR_PAGE_BYTES;
        a->first_page = (uint32_t)(block * ACTOR_BLOCK_PAGES + lead);
        block += actor_alloc_blocks(a);
        if (block > (1ull << 31) / ACTOR_BLOCK_PAGES)
            return err_set(err, "the allocations have more than 2^31 pages (8 TiB) together");
    }
    return 0;
}

uint32_t actor_alloc_blocks(const struct actor_alloc *a)
{
    uint64_t first = a->addr / ACTOR_BLOCK_BYTES, last = (a->addr + a->bytes - 1) / ACTOR_BLOCK_BYTES;
    return (uint32_t)(last - first + 1);
}

uint64_t actor_space_pages(const struct actor_alloc *allocs, size_t n)
{
    if (n == 0)
        return 0;
    const struct actor_alloc *a = &allocs[n - 1];
    return (a->first_page / ACTOR_BLOCK_PAGES + (uint64_t)actor_alloc_blocks(a)) * ACTOR_BLOCK_PAGES;
}

/* The allocation that a page is of. */
static size_t alloc_of(const struct actor_alloc *allocs, size_t n, uint32_t page)
{
    size_t lo = 0, hi = n;
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        if (allocs[mid].first_page <= page)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* The byte address of a page. */
static uint64_t page_addr(const struct actor_alloc *allocs, size_t n, uint32_t page)
{
    const struct actor_alloc *a = &allocs[alloc_of(allocs, n, page)];
    return a->addr + (uint64_t)(page - a->first_page) * ACTOR_PAGE_BYTES;
}

int actor_touched(const struct actor_ops *ops, const void *state, uint32_t first, uint32_t end, bool *touched,
                  struct err *err)
{
    size_t n;
    const struct actor_alloc *allocs = ops->allocs(state, &n);
    void *opened = ops->run_open ? ops->run_open(state, err) : NULL;
    int rc = ops->run_open && !opened ? -1 : 0;
    for (uint32_t l = first; l < end && rc == 0; l++) {
        struct actor_launch launch;
        struct actor_step step;
        ops->launch(state, l, &launch);
        for (uint32_t actor = 0; actor < launch.actors && rc == 0; actor++) {
            struct actor_at at = {0};
            while ((rc = ops->step(opened ? opened : (void *)state, l, actor, &at, &step, err)) == 1)
                for (uint32_t i = 0; i < step.count + step.stores; i++)
                    touched[alloc_of(allocs, n, step.page[i])] = true;
        }
    }
    if (opened)
        ops->run_close(opened);
    return rc;
}

/* ALLOC of the next allocation, then its ADVISEs. */
static bool write_alloc(struct actor_writer *w, const struct actor_alloc *allocs, size_t n, struct record *r)
{
    if (w->alloc == n)
        return false;
    const struct actor_alloc *a = &allocs[w->alloc];
    *r = (struct record){.kind = RECORD_ALLOC, .addr = a->addr, .bytes = a->bytes, .id = w->alloc};
    if (!w->advised) {
        r->flags = RECORD_ALLOC_MANAGED;
        r->group = a->host;
        w->advised = true;
        w->index = 0;
        return true;
    }
    for (; w->index < 8; w->index++)
        if (a->advice >> w->index & 1) {
            r->kind = RECORD_ADVISE;
            r->flags = w->index++;
            r->id = 0;
            return true;
        }
    w->alloc++;
    w->advised = false;
    w->index = 0;
    return write_alloc(w, allocs, n, r);
}

const char *const actor_extras[ACTOR_EXTRAS] = {"instructions", "sectors", "turns", "waits"};

static void write_touch(struct actor_writer *w, const struct actor_alloc *allocs, size_t n, struct record *r,
                        int64_t *extras)
{
    const struct actor_step *s = &w->step;
    *r = (struct record){.kind = RECORD_TOUCH,
                         .time = w->index,
                         .duration = s->compute_ns == ACTOR_COMPUTE_AUTO ? 0 : s->compute_ns,
                         .bytes = w->touch == 0 ? s->accesses : 0,
                         .id = w->actor,
                         .group = w->launch};
    if (w->touch == 0) {
        extras[0] = s->compute_ns == ACTOR_COMPUTE_AUTO ? s->instructions : 0;
        extras[1] = s->sectors;
        extras[2] = s->turns;
        extras[3] = s->waits;
    }
    if (s->count + s->stores)
        r->addr = page_addr(allocs, n, s->page[w->touch]);
    if (w->touch < s->count)
        r->flags = s->writes >> w->touch & 1 ? RECORD_ATOMIC : RECORD_READ;
    else if (s->stores)
        r->flags = RECORD_WRITE;
    if (++w->touch >= s->count + s->stores) {
        w->loaded = false;
        w->index++;
    }
}

/* The next record of the launches. Returns 1, 0 at the end, -1 with *err set. */
static int write_launches(struct actor_writer *w, const struct actor_ops *ops, const void *state, struct record *r,
                          int64_t *extras, struct err *err)
{
    size_t n;
    const struct actor_alloc *allocs = ops->allocs(state, &n);
    if (w->launch == ops->launches(state))
        return 0;
    if (!w->opened) {
        ops->launch(state, w->launch, &w->current);
        *r = (struct record){.kind = RECORD_KERNEL,
                             .time = w->current.threads,
                             .duration = (int64_t)w->current.registers << 32 | w->current.shared,
                             .addr = w->current.actors,
                             .bytes = w->current.per_sm,
                             .flags = w->current.together | (w->current.cpu ? 1u << 31 : 0) |
                                      (w->current.waited ? 1u << 30 : 0),
                             .id = w->launch,
                             .group = w->launch};
        extras[0] = w->current.blocks_most;
        w->opened = true;
        w->actor = w->index = 0;
        w->at = (struct actor_at){0};
        w->loaded = false;
        return 1;
    }
    while (w->actor < w->current.actors) {
        if (!w->loaded) {
            int rc = ops->step(w->run ? w->run : (void *)state, w->launch, w->actor, &w->at, &w->step, err);
            if (rc < 0)
                return -1;
            if (rc == 0) {
                w->actor++;
                w->index = 0;
                w->at = (struct actor_at){0};
                continue;
            }
            w->loaded = true;
            w->touch = 0;
        }
        write_touch(w, allocs, n, r, extras);
        return 1;
    }
    *r = (struct record){.kind = RECORD_KERNEL_END, .group = w->launch};
    w->launch++;
    w->opened = false;
    return 1;
}

int actor_writer_next(struct actor_writer *w, const struct actor_ops *ops, const void *state, struct record *records,
                      int64_t *extras, size_t cap, size_t *n, struct err *err)
{
    *n = 0;
    memset(extras, 0, cap * ACTOR_EXTRAS * sizeof *extras);
    if (w->stage == 0) {
        if (ops->run_open && !w->run && !(w->run = ops->run_open(state, err)))
            return -1;
        size_t count;
        const struct actor_alloc *allocs = ops->allocs(state, &count);
        while (*n < cap && write_alloc(w, allocs, count, &records[*n]))
            ++*n;
        if (*n == cap)
            return 0;
        w->stage = 1;
    }
    while (*n < cap) {
        int rc = write_launches(w, ops, state, &records[*n], &extras[*n * ACTOR_EXTRAS], err);
        if (rc < 0)
            return -1;
        if (rc == 0)
            break;
        ++*n;
    }
    return 0;
}

void actor_writer_close(struct actor_writer *w, const struct actor_ops *ops)
{
    if (w->run && ops->run_close)
        ops->run_close(w->run);
    w->run = NULL;
}
