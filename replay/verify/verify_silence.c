#include "replay/verify/verify_collect.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { MIN_RECORDS = 8, TIMES_USUAL = 10, MIN_NS = 1000000, SHARE = 50 /* a fiftieth of the work */ };

static int by_start(const void *a, const void *b)
{
    const struct verify_interval *x = a, *y = b;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* One stretch of work [from, to) and the activity that starts in it; gaps has room for n + 1. */
static void judge(struct verify_silence *s, int64_t from, int64_t to, const struct verify_interval *activity, size_t n,
                  int64_t *gaps)
{
    if (n < MIN_RECORDS)
        return;
    int64_t end = activity[0].end_ns;
    size_t count = 0;
    for (size_t i = 1; i < n; i++) {
        gaps[count++] = activity[i].start_ns > end ? activity[i].start_ns - end : 0;
        end = activity[i].end_ns > end ? activity[i].end_ns : end;
    }
    qsort(gaps, count, sizeof *gaps, by_size);
    int64_t usual = gaps[count - 1 - count / 20];
    int64_t limit = usual > INT64_MAX / TIMES_USUAL ? INT64_MAX : usual * TIMES_USUAL;
    limit = limit > MIN_NS ? limit : MIN_NS;
    limit = limit > (to - from) / SHARE ? limit : (to - from) / SHARE;
    double silent = 0, bytes = (double)activity[0].bytes;
    end = activity[0].end_ns;
    for (size_t i = 1; i <= n; i++) {
        int64_t next = i < n ? activity[i].start_ns : to;
        if (next > end && next - end > limit) {
            s->count++;
            silent += (double)(next - end);
            if (next - end > s->longest_ns)
                *s = (struct verify_silence){s->count, next - end, end, next, usual, to - from, s->lost_bytes, i == n};
        }
        if (i < n) {
            end = activity[i].end_ns > end ? activity[i].end_ns : end;
            bytes += (double)activity[i].bytes;
        }
    }
    if (silent > 0 && silent < (double)(to - from))
        s->lost_bytes += silent * bytes / ((double)(to - from) - silent);
}

int verify_silence_find(struct verify_silence *silence, struct verify_interval *kernels, size_t kernel_count,
                        struct verify_interval *activity, size_t activity_count, struct err *err)
{
    memset(silence, 0, sizeof *silence);
    int64_t *gaps = mem_zalloc(activity_count + 1, sizeof *gaps, err);
    if (!gaps)
        return -1;
    if (kernel_count > 0)
        qsort(kernels, kernel_count, sizeof *kernels, by_start);
    if (activity_count > 0)
        qsort(activity, activity_count, sizeof *activity, by_start);
    size_t a = 0;
    for (size_t k = 0; k < kernel_count;) {
        int64_t from = kernels[k].start_ns, to = kernels[k].end_ns;
        for (k++; k < kernel_count && kernels[k].start_ns <= to; k++)
            to = kernels[k].end_ns > to ? kernels[k].end_ns : to;
        while (a < activity_count && activity[a].start_ns < from)
            a++;
        size_t first = a;
        while (a < activity_count && activity[a].start_ns < to)
            a++;
        if (a > first)
            judge(silence, from, to, activity + first, a - first, gaps);
    }
    free(gaps);
    return 0;
}
