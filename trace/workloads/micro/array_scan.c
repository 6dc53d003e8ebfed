#include "trace/workloads/micro/array.h"

uint32_t array_scan_element(const struct array *a)
{
    static const uint32_t element_bytes[] = {4, 8, 16, 1, 2};
    return element_bytes[a->p.scan.element];
}

/* Of the whole array. */
static uint64_t elements(const struct array *a)
{
    return (uint64_t)a->p.bytes / array_scan_element(a);
}

int array_scan_check(const struct array *a, struct err *err)
{
    uint64_t n = elements(a);
    if (n == 0)
        return err_set(err, "the array is %lld bytes, an element %u", (long long)a->p.bytes, array_scan_element(a));
    if ((uint64_t)a->p.scan.offset >= n)
        return err_set(err, "offset is %lld; the array has %llu elements", (long long)a->p.scan.offset,
                       (unsigned long long)n);
    return 0;
}

static void setup(void *state, struct scan_setup *s)
{
    const struct array *a = state;
    const struct array_scan_params *p = &a->p.scan;
    uint64_t chunk = (uint64_t)p->chunk;
    *s = (struct scan_setup){
        .shape = SCAN_ARRAY,
        .reuse = (enum scan_reuse)p->reuse,
        .structures = {{"array", 0, array_scan_element(a), elements(a)}},
        .structure_count = 1,
        .chunk = p->chunk,
        .threads_per_block = a->p.threads,
        .blocks_per_sm = p->blocks_per_sm,
        .stride_blocks = a->p.blocks,
        .lanes = (elements(a) - (uint64_t)p->offset + chunk - 1) / chunk,
    };
    if (a->p.pattern != ARRAY_STRIDE)
        s->lanes = 0;
}

static int start(void *state, struct err *err)
{
    struct array *a = state;
    a->scan.given = 0;
    if (a->p.pattern != ARRAY_STRIDE)
        return err_set(err, "the kernels that read an array over the link read it in order: pattern=stride");
    return 0;
}

static int next(void *state, struct scan_batch *batch, struct err *err)
{
    (void)err;
    struct array *a = state;
    if (a->scan.given == a->p.launches)
        return 0;
    uint64_t first = (uint64_t)a->p.scan.offset;
    a->scan.scan = (struct scan){first, elements(a) - first, 0};
    *batch = (struct scan_batch){a->scan.given++, &a->scan.scan, 1, true};
    return 1;
}

static uint64_t runs(void *state)
{
    (void)state;
    return 1;
}

const struct scan_ops array_scan_ops = {setup, start, next, runs};
