#include "trace/recorder/recorder_ranges.h"

#include <stdlib.h>

#include "trace/base/mem.h"

enum { MARK = 1, BEGIN = 2, MOST_OPEN = 1 << 20 };

static int name_of(struct recorder_ranges *r, uint64_t text, uint32_t *row, int64_t *name, struct err *err)
{
    uint64_t before = r->names.count;
    if (dense_number(&r->names, text, row, err))
        return -1;
    if (r->names.count > before)
        *name = *row;
    return 0;
}

static int begin(struct recorder_ranges *r, const struct record_pipe_message *m, int64_t *name, struct err *err)
{
    uint32_t row;
    if (r->open_count == MOST_OPEN)
        return err_set(err, "more than %d ranges are open at once", MOST_OPEN);
    if (name_of(r, m->id, &row, name, err) ||
        mem_grow((void **)&r->open, &r->cap, r->open_count + 1, sizeof *r->open, err))
        return -1;
    r->open[r->open_count++] = (struct recorder_range){m->addr, m->time, row, m->group};
    return 0;
}

/* Ranges are mostly nested: the one that ends is among the last that began. */
static int end(struct recorder_ranges *r, const struct record_pipe_message *m, struct record *record)
{
    for (size_t i = r->open_count; i-- > 0;) {
        const struct recorder_range o = r->open[i];
        if (o.number != m->addr || m->time < o.time)
            continue;
        *record = (struct record){.kind = RECORD_RANGE,
                                  .time = o.time,
                                  .duration = m->time - o.time,
                                  .id = (uint64_t)o.name,
                                  .group = o.thread};
        r->open[i] = r->open[--r->open_count];
        return 1;
    }
    return 0;
}

int recorder_ranges_take(struct recorder_ranges *r, const struct record_pipe_message *m, struct record *record,
                         int64_t *name, struct err *err)
{
    uint32_t row;
    if (m->kind & BEGIN)
        return begin(r, m, name, err);
    if (!(m->kind & MARK))
        return end(r, m, record);
    if (name_of(r, m->id, &row, name, err))
        return -1;
    *record = (struct record){.kind = RECORD_RANGE, .time = m->time, .id = row, .group = m->group};
    return 1;
}

void recorder_ranges_release(struct recorder_ranges *r)
{
    dense_release(&r->names);
    free(r->open);
    *r = (struct recorder_ranges){0};
}
