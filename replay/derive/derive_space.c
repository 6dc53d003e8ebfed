#include "replay/derive/derive_space.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/event/actor.h"

static int add(struct derive_ranges *ranges, uint64_t addr, uint64_t bytes, struct err *err)
{
    if (bytes == 0 || addr + (bytes - 1) < addr)
        return 0;
    return MEM_ADD(ranges->items, ranges->count, ranges->cap, err, (struct derive_range){addr, addr + (bytes - 1)});
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
    return add(strcmp(v[3].s, "device") == 0 ? &t->memory->device : &t->memory->host, (uint64_t)v[1].i,
               (uint64_t)v[2].i, t->err);
}

/* In order; those that overlap joined. */
static void merge(struct derive_ranges *ranges)
{
    struct derive_range *r = ranges->items;
    size_t to = 0;
    sort_items(r, ranges->count, sizeof *r, sorted_by_u64);
    for (size_t i = 0; i < ranges->count; i++) {
        if (to && r[i].first <= r[to - 1].last)
            r[to - 1].last = r[i].last > r[to - 1].last ? r[i].last : r[to - 1].last;
        else
            r[to++] = r[i];
    }
    ranges->count = to;
}

int derive_memory_open(struct derive_memory *m, const struct derive_source *source, struct err *err)
{
    if (source->program) {
        size_t n;
        const struct program_alloc *allocs = source->program->ops->allocs(source->program->state, &n);
        for (size_t i = 0; i < n; i++)
            if (add(allocs[i].device ? &m->device : &m->host, allocs[i].addr, allocs[i].bytes, err))
                return -1;
    } else {
        struct memory_table table = {m, err};
        if (store_rows(source->store, "allocations", take_memory, &table, err))
            return -1;
        if (m->host.count == 0)
            m->device.count = 0;
    }
    merge(&m->device);
    merge(&m->host);
    return 0;
}

void derive_memory_release(struct derive_memory *m)
{
    free(m->device.items);
    free(m->host.items);
    *m = (struct derive_memory){0};
}

static bool within(const struct derive_ranges *ranges, uint64_t addr)
{
    size_t at = 0;
    SORTED_FIRST(at, ranges->count, i, ranges->items[i].first <= addr);
    return at && addr <= ranges->items[at - 1].last;
}

bool derive_memory_stays(const struct derive_memory *m, uint64_t addr)
{
    return within(&m->device, addr) && !within(&m->host, addr);
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

static int add_stretch(struct derive_space *s, struct derive_stretch stretch, struct err *err)
{
    return MEM_ADD(s->rows, s->count, s->row_cap, err, stretch);
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
    sort_items(s->rows, s->count, sizeof *s->rows, sorted_by_u64);
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
    size_t lo = 0;
    SORTED_FIRST(lo, s->count, i, s->rows[i].first <= page);
    if (!lo || page > s->rows[lo - 1].last)
        return UINT64_MAX;
    return s->rows[lo - 1].offset + (addr - s->rows[lo - 1].first * ACTOR_PAGE_BYTES);
}
