/* array: one array in host memory, read without faults (trace/workloads/array_scan.h). */
#include <stdlib.h>

#include "trace/mem.h"
#include "trace/workloads/array_scan.h"
#include "trace/workloads/workload.h"

struct array_params {
    int64_t bytes, blocks, threads;
    struct array_scan_params scan;
};

static const struct param array_params[] = {
    PARAM_BYTES_ROW(array_params, bytes, 4, 0x1p38, 0x1p28, "the array"),
    PARAM_INT_ROW(array_params, blocks, "", 1, 1 << 20, 1024, "thread blocks of pattern stride"),
    PARAM_INT_ROW(array_params, threads, "", 1, 1024, 256, "threads of a block"),
    ARRAY_SCAN_ROWS(array_params),
    {0}};

static void *array_open(const void *params, struct err *err)
{
    const struct array_params *p = params;
    struct array_scan *a = mem_zalloc(1, sizeof *a, err);
    if (!a)
        return NULL;
    a->params = p->scan;
    a->threads = p->threads;
    a->blocks = p->blocks;
    if (array_scan_init(a, (uint64_t)p->bytes, err)) {
        free(a);
        return NULL;
    }
    return a;
}

static void array_close(void *state)
{
    free(state);
}

static int array_next(void *state, struct record *records, size_t cap, size_t *n, struct err *err)
{
    struct array_scan *a = state;
    return scan_write(&a->writer, &array_scan_ops, a, records, cap, n, err);
}

const struct workload_type workload_array = {
    .name = "array",
    .summary = "one array read in stride, at random, sparsely or as a chain",
    .source = "measured: H200, driver 580.159.04, 2026-11",
    .produces = WORKLOAD_SCANS,
    .params = array_params,
    .params_size = sizeof(struct array_params),
    .open = array_open,
    .close = array_close,
    .ops = &array_scan_ops,
    .next = array_next,
};
