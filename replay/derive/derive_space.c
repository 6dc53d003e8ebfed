#include "replay/derive/derive_space.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/event/actor.h"

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

struct memory_table {
    struct derive_memory *memory;
    struct err *err;
};

static int take_memory(void *ctx, const struct store_value *v, size_t n)
{
    const struct memory_table *t = ctx;
    if (n < 4 || v[3].type != STORE_TEXT)
        return 0;
    return add_one(t->memory, strcmp(v[3].s, "device") == 0, (uint64_t)v[1].i, (uint64_t)v[2].i, t->err);
}

static int ranges_by_first(const void *a, const void *b)
{
    const struct derive_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* In order; those that overlap joined. */
static size_t merge(struct derive_range *ranges, size_t count)
{
    size_t to = 0;
    qsort(ranges, count, sizeof *ranges, ranges_by_first);
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
        struct memory_table table = {m, err};
        if (store_rows(source->store, "allocations", take_memory, &table, err))
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

int derive_space_touch(struct derive_space *s, uint64_t page, bool read, struct err *err)
{
    uint32_t known = s->numbers.count, i;
    if (id_map_number(&s->numbers, page / ACTOR_BLOCK_PAGES, &i, err) ||
        mem_grow((void **)&s->blocks, &s->cap, (size_t)i + 1, sizeof *s->blocks, err))
        return -1;
    struct derive_stretch *r = &s->blocks[i];
    if (i == known)
        *r = (struct derive_stretch){.first = page, .last = page, .read = read};
    r->first = page < r->first ? page : r->first;
    r->last = page > r->last ? page : r->last;
    r->read |= read;
    return 0;
}

static int by_first(const void *a, const void *b)
{
    const struct derive_stretch *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static int add_stretch(struct derive_space *s, struct derive_stretch stretch, struct err *err)
{
    void *rows = s->rows;
    if (mem_grow(&rows, &s->row_cap, s->count + 1, sizeof *s->rows, err))
        return -1;
    s->rows = rows;
    s->rows[s->count++] = stretch;
    return 0;
}

struct table {
    struct derive_space *space;
    const struct derive_memory *memory;
    struct err *err;
};

static int take_allocation(void *ctx, const struct store_value *v, size_t n)
{
    const struct table *t = ctx;
    uint64_t addr = n >= 3 ? (uint64_t)v[1].i : 0, bytes = n >= 3 ? (uint64_t)v[2].i : 0;
    if (addr + bytes <= addr || derive_memory_stays(t->memory, addr))
        return 0; /* of no bytes, past the end of memory, or on the GPU */
    return add_stretch(
        t->space,
        (struct derive_stretch){.first = addr / ACTOR_PAGE_BYTES, .last = (addr + bytes - 1) / ACTOR_PAGE_BYTES},
        t->err);
}

int derive_space_merge(struct derive_space *s, struct store *in, const struct derive_memory *memory, struct err *err)
{
    struct table table = {s, memory, err};
    if (in && store_rows(in, "allocations", take_allocation, &table, err))
        return -1;
    for (uint32_t i = 0; i < s->numbers.count; i++)
        if (add_stretch(s, s->blocks[i], err))
            return -1;
    if (s->count)
        qsort(s->rows, s->count, sizeof *s->rows, by_first);
    size_t to = 0;
    for (size_t i = 0; i < s->count; i++) {
        struct derive_stretch *last = to ? &s->rows[to - 1] : NULL, *r = &s->rows[i];
        if (last && (r->first <= last->last + 1 || r->first / ACTOR_BLOCK_PAGES == last->last / ACTOR_BLOCK_PAGES)) {
            last->last = r->last > last->last ? r->last : last->last;
            last->read |= r->read;
        } else {
            s->rows[to++] = *r;
        }
    }
    s->count = to;
    for (size_t i = 1; i < to; i++)
        s->rows[i].offset = s->rows[i - 1].offset + (s->rows[i - 1].last - s->rows[i - 1].first + 1) * ACTOR_PAGE_BYTES;
    return 0;
}

void derive_space_release(struct derive_space *s)
{
    free(s->blocks);
    id_map_release(&s->numbers);
    free(s->rows);
    *s = (struct derive_space){0};
}

uint64_t derive_space_bytes(const struct derive_space *s)
{
    const struct derive_stretch *last = s->count ? &s->rows[s->count - 1] : NULL;
    return last ? last->offset + (last->last - last->first + 1) * ACTOR_PAGE_BYTES : 0;
}

uint64_t derive_space_offset(const struct derive_space *s, uint64_t addr)
{
    uint64_t page = addr / ACTOR_PAGE_BYTES;
    size_t lo = 0, hi = s->count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (s->rows[mid].first <= page)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (!lo || page > s->rows[lo - 1].last)
        return UINT64_MAX;
    return s->rows[lo - 1].offset + (addr - s->rows[lo - 1].first * ACTOR_PAGE_BYTES);
}
