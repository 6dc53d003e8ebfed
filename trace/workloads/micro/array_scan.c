#include "trace/workloads/micro/array_scan.h"

static const uint32_t element_bytes[] = {4, 8, 16, 1, 2};

uint32_t array_scan_element(const struct array_scan *a)
{
    return element_bytes[a->params.element];
}

int array_scan_init(struct array_scan *a, uint64_t bytes, struct err *err)
{
    uint64_t elements = bytes / array_scan_element(a);
    a->bytes = bytes;
    if (elements == 0)
        return err_set(err, "the array is %llu bytes, an element %u", (unsigned long long)bytes, array_scan_element(a));
    if ((uint64_t)a->params.offset >= elements)
        return err_set(err, "offset is %lld; the array has %llu elements", (long long)a->params.offset,
                       (unsigned long long)elements);
    return 0;
}

static void setup(void *state, struct scan_setup *s)
{
    const struct array_scan *a = state;
    uint32_t element = array_scan_element(a);
    *s = (struct scan_setup){
        .shape = SCAN_ARRAY,
        .reuse = (enum scan_reuse)a->params.reuse,
        .structures = {{"array", 0, element, a->bytes / element}},
        .structure_count = 1,
        .chunk = a->params.chunk,
        .threads_per_block = a->threads,
        .blocks_per_sm = a->params.blocks_per_sm,
        .stride_blocks = a->blocks,
        .lanes = (a->bytes / element - (uint64_t)a->params.offset + (uint64_t)a->params.chunk - 1) /
                 (uint64_t)a->params.chunk,
    };
    if (a->none)
        s->lanes = 0;
}

static int start(void *state, struct err *err)
{
    struct array_scan *a = state;
    a->given = 0;
    if (a->none)
        return err_set(err, "the kernels that read an array over the link read it in order: pattern=stride");
    return 0;
}

static int next(void *state, struct scan_batch *batch, struct err *err)
{
    (void)err;
    struct array_scan *a = state;
    if (a->given == a->launches)
        return 0;
    uint64_t elements = a->bytes / array_scan_element(a), first = (uint64_t)a->params.offset;
    a->scan = (struct scan){first, elements - first, 0};
    *batch = (struct scan_batch){a->given++, &a->scan, 1, true};
    return 1;
}

static uint64_t runs(void *state)
{
    (void)state;
    return 1;
}

const struct scan_ops array_scan_ops = {setup, start, next, runs};
