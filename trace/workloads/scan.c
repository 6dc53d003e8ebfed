#include "trace/workloads/scan.h"
#include "trace/event/record.h"

/* The next record of the batch; 0 when the batch is used up. */
static int next_record(struct scan_writer *w, struct record *r)
{
    if (w->scan < w->batch.n) {
        const struct scan *s = &w->batch.scans[w->scan];
        const struct scan_structure *d = &w->setup.structures[w->structure];
        *r = (struct record){.kind = RECORD_SCAN,
                             .addr = d->base + s->first * d->element,
                             .bytes = s->count * d->element,
                             .id = s->lane,
                             .group = w->batch.launch,
                             .flags = (uint32_t)w->structure};
        if (++w->structure == w->setup.structure_count) {
            w->structure = 0;
            w->scan++;
        }
        return 1;
    }
    w->in_batch = false;
    if (!w->batch.last)
        return 0;
    *r = (struct record){.kind = RECORD_KERNEL_END, .group = w->batch.launch};
    return 1;
}

int scan_write(struct scan_writer *w, const struct scan_ops *ops, void *state, struct record *records, size_t cap,
               size_t *n, struct err *err)
{
    *n = 0;
    if (!w->started) {
        ops->setup(state, &w->setup);
        if (ops->start(state, err))
            return -1;
        w->started = true;
    }
    while (*n < cap) {
        if (!w->in_batch) {
            int rc = ops->next(state, &w->batch, err);
            if (rc <= 0)
                return rc;
            w->scan = w->structure = 0;
            w->in_batch = true;
        }
        *n += (size_t)next_record(w, &records[*n]);
    }
    return 0;
}
