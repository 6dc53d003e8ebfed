#include "trace/derived/services.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

void services_init(struct services *s, enum record_kind kind)
{
    memset(s, 0, sizeof *s);
    s->kind = kind;
}

void services_release(struct services *s)
{
    free(s->migrations);
    free(s->items);
    services_init(s, s->kind);
}

int services_add(struct services *s, const struct record *records, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct record *r = &records[i];
        if (r->kind != (uint32_t)s->kind || (r->flags != RECORD_CAUSE_FAULT && r->flags != RECORD_CAUSE_PREFETCH) ||
            r->bytes == 0 || r->bytes > UINT64_MAX - r->addr)
            continue;
        if (mem_grow((void **)&s->migrations, &s->migration_cap, s->migration_count + 1, sizeof *s->migrations, err))
            return -1;
        s->migrations[s->migration_count] =
            (struct migration){r->time, r->time + r->duration, r->addr, r->bytes, s->migration_count, r->flags};
        s->migration_count++;
    }
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct migration *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void sort(struct services *s)
{
    for (size_t i = 1; i < s->migration_count; i++)
        if (by_start(&s->migrations[i - 1], &s->migrations[i]) > 0) {
            qsort(s->migrations, s->migration_count, sizeof *s->migrations, by_start);
            return;
        }
}

static uint64_t block_of(uint64_t addr)
{
    return addr & ~(uint64_t)(SERVICES_BLOCK_BYTES - 1);
}

/* Whole and partial pages that [addr, addr + bytes) touches. */
static uint32_t pages_of(const struct migration *m)
{
    uint64_t first = m->addr / SERVICES_PAGE_BYTES, last = (m->addr + m->bytes - 1) / SERVICES_PAGE_BYTES;
    uint64_t pages = last - first + 1;
    return pages > UINT32_MAX ? UINT32_MAX : (uint32_t)pages;
}

static bool continues(const struct migration *previous, const struct migration *m)
{
    return m->start_ns == previous->end_ns && block_of(m->addr) == block_of(previous->addr) && m->addr > previous->addr;
}

int services_rebuild(struct services *s, struct err *err)
{
    sort(s);
    s->count = 0;
    for (size_t i = 0; i < s->migration_count; i++) {
        const struct migration *m = &s->migrations[i];
        if (i == 0 || !continues(m - 1, m)) {
            if (mem_grow((void **)&s->items, &s->cap, s->count + 1, sizeof *s->items, err))
                return -1;
            s->items[s->count++] =
                (struct service){.start_ns = m->start_ns, .block_addr = block_of(m->addr), .first = i};
        }
        struct service *item = &s->items[s->count - 1];
        item->end_ns = m->end_ns;
        item->records++;
        if (m->cause == RECORD_CAUSE_FAULT) {
            item->fault_pages += pages_of(m);
            item->fault_bytes += m->bytes;
        } else {
            item->prefetch_pages += pages_of(m);
            item->prefetch_bytes += m->bytes;
        }
    }
    return 0;
}
