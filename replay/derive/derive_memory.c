#include "replay/derive/derive_memory.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

static int add(struct derive_range **ranges, size_t *count, size_t *cap, uint64_t addr, uint64_t bytes, struct err *err)
{
    if (bytes == 0 || addr + (bytes - 1) < addr)
        return 0;
    if (mem_grow((void **)ranges, cap, *count + 1, sizeof **ranges, err))
        return -1;
    (*ranges)[(*count)++] = (struct derive_range){addr, addr + (bytes - 1)};
    return 0;
}

static int add_one(struct derive_memory *m, bool device, uint64_t addr, uint64_t bytes, struct err *err)
{
    return device ? add(&m->device, &m->devices, &m->device_cap, addr, bytes, err)
                  : add(&m->host, &m->hosts, &m->host_cap, addr, bytes, err);
}

struct table {
    struct derive_memory *memory;
    struct err *err;
};

static int take_allocation(void *ctx, const struct store_value *v, size_t n)
{
    const struct table *t = ctx;
    if (n < 4 || v[3].type != STORE_TEXT)
        return 0;
    return add_one(t->memory, strcmp(v[3].s, "device") == 0, (uint64_t)v[1].i, (uint64_t)v[2].i, t->err);
}

static int by_first(const void *a, const void *b)
{
    const struct derive_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* In order; those that overlap joined. */
static size_t merge(struct derive_range *ranges, size_t count)
{
    size_t to = 0;
    qsort(ranges, count, sizeof *ranges, by_first);
    for (size_t i = 0; i < count; i++) {
        if (to && ranges[i].first <= ranges[to - 1].last)
            ranges[to - 1].last = ranges[i].last > ranges[to - 1].last ? ranges[i].last : ranges[to - 1].last;
        else
            ranges[to++] = ranges[i];
    }
    return to;
}

int derive_memory_open(struct derive_memory *m, const struct derive_source *source, struct err *err)
{
    if (source->program) {
        size_t n;
        const struct program_alloc *allocs = source->program->ops->allocs(source->program->state, &n);
        for (size_t i = 0; i < n; i++)
            if (add_one(m, allocs[i].device, allocs[i].addr, allocs[i].bytes, err))
                return -1;
    } else {
        struct table table = {m, err};
        if (store_rows(source->store, "allocations", take_allocation, &table, err))
            return -1;
        if (m->hosts == 0)
            m->devices = 0;
    }
    m->devices = m->devices ? merge(m->device, m->devices) : 0;
    m->hosts = m->hosts ? merge(m->host, m->hosts) : 0;
    return 0;
}

void derive_memory_release(struct derive_memory *m)
{
    free(m->device);
    free(m->host);
    *m = (struct derive_memory){0};
}

static bool within(const struct derive_range *ranges, size_t count, uint64_t addr)
{
    size_t lo = 0, hi = count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (ranges[mid].first <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo && addr <= ranges[lo - 1].last;
}

bool derive_memory_stays(const struct derive_memory *m, uint64_t addr)
{
    return within(m->device, m->devices, addr) && !within(m->host, m->hosts, addr);
}
