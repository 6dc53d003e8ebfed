/* store_bench: how fast a trace is written and read back on one core, and how many bytes a record takes.
 *
 * page: a UVM touch stream, random pages of 1 GiB at irregular times, 80 actors in turn or one. dram: requests to
 * random 32 B sectors of 4 GiB, a third of them writes, numbered. sequential: pages in order. The records are made
 * outside the timed parts. store_bench [million records] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/store/store.h"

enum { BATCH = STORE_BATCH, DISTINCT = 1 << 22 };

static double now_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

enum shape { PAGE, ACTORS, DRAM, SEQUENTIAL, MIGRATE, SHAPES };

static const char *const names[SHAPES] = {"page", "page-actors", "dram", "page-sequential", "migrate"};

static void fill(struct record *records, size_t n, enum shape shape)
{
    uint64_t state = 88172645463325252u;
    int64_t now = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t r = draw(&state);
        now += (int64_t)(r >> 58);
        records[i] = (struct record){.time = now, .kind = RECORD_TOUCH, .flags = RECORD_READ};
        records[i].addr = 0x7F0000000000 + (r % 262144) * 4096;
        if (shape == ACTORS)
            records[i].id = (r >> 40) % 80;
        if (shape == SEQUENTIAL)
            records[i].addr = 0x7F0000000000 + i * 4096;
        if (shape == MIGRATE) {
            records[i].kind = RECORD_MIGRATE_H2D;
            records[i].flags = RECORD_CAUSE_FAULT;
            records[i].bytes = 4096 << (r >> 50) % 5;
        }
        if (shape == DRAM) {
            records[i].kind = (r >> 50) % 3 ? RECORD_DRAM_READ : RECORD_DRAM_WRITE;
            records[i].addr = (r % 134217728) * 32;
            records[i].bytes = 32;
            records[i].id = i;
        }
    }
}

static int write_all(const char *path, const struct record *records, size_t n, struct err *err)
{
    struct store *store = store_create(path, true, "store_bench", err);
    struct stream s = {.name = "bench", .unit = TIME_NS};
    int index, failed = store ? store_stream_add(store, &s, &index, err) : -1;
    for (size_t at = 0; at < n && !failed; at += BATCH)
        failed = store_append(store, index, records + at % DISTINCT, NULL, n - at < BATCH ? n - at : BATCH, err);
    if (!failed)
        failed = store_finish(store, err);
    store_close(store);
    return failed;
}

static int read_all(const char *path, uint64_t *sum, struct err *err)
{
    struct store *store = store_open(path, err);
    struct store_cursor *cursor = store ? store_cursor_open(store, 0, err) : NULL;
    const struct record *r;
    size_t n;
    int rc = cursor ? 1 : -1;
    while (rc == 1 && (rc = store_cursor_next(cursor, &r, NULL, &n, err)) == 1)
        for (size_t i = 0; i < n; i++)
            *sum += (r[i].addr ^ (uint64_t)r[i].time) + r[i].kind;
    store_cursor_close(cursor);
    store_close(store);
    return rc;
}

int main(int argc, char **argv)
{
    size_t n = (argc > 1 ? strtoul(argv[1], NULL, 10) : 8) * 1000000;
    const char *dir = getenv("TMPDIR");
    char path[300];
    struct err err = {""};
    (void)snprintf(path, sizeof path, "%s/offchip-bench-%ld.db", dir ? dir : "/tmp", (long)getpid());
    struct record *records = malloc(DISTINCT * sizeof *records);
    if (!records || n == 0)
        return 1;
    printf("%-16s %14s %14s %12s\n", "stream", "append M/s", "read M/s", "bytes/record");
    int failed = 0;
    for (int shape = 0; shape < SHAPES && !failed; shape++) {
        uint64_t sum = 0;
        fill(records, DISTINCT, (enum shape)shape);
        double start = now_s();
        failed = write_all(path, records, n, &err);
        double written = now_s();
        failed = failed || read_all(path, &sum, &err);
        double read = now_s();
        struct stat st;
        if (stat(path, &st))
            memset(&st, 0, sizeof st);
        printf("%-16s %14.1f %14.1f %12.2f\n", names[shape], (double)n / (written - start) / 1e6,
               (double)n / (read - written) / 1e6, (double)st.st_size / (double)n);
    }
    (void)unlink(path);
    free(records);
    if (failed)
        (void)fprintf(stderr, "store_bench: %s\n", err.msg);
    return failed ? 1 : 0;
}
