/* Warp instructions per second from a grouped trace in memory to a finished trace: vector add, one instruction in four
 * arithmetic, addresses in all three modes. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "trace/readers/accelsim.h"
#include "trace/testing_accelsim.h"

enum { THREADS = 8 << 20 };

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
    struct err err = {""};
    char *text = NULL, path[64];
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    build_vector_add(f, 5, THREADS);
    (void)fclose(f);
    (void)snprintf(path, sizeof path, "/tmp/offchip-bench-%d.db", (int)getpid());
    double start = now(), instructions = THREADS / 32 * 4.0;
    struct store *store = store_create(path, true, "bench", &err);
    struct source *source = store ? source_from_memory(text, size, &err) : NULL;
    struct reader_context context = {.store = store, .path = "kernel-1.traceg"};
    if (!source || reader_run(&read_accelsim, &context, source, &err) || store_finish(store, &err)) {
        printf("failed: %s\n", err.msg);
        return 1;
    }
    source_close(source);
    store_close(store);
    double seconds = now() - start;
    printf("Accel-Sim import: %.2f million warp instructions/s (%.0f, %.0f MB/s of text)\n",
           instructions / seconds / 1e6, instructions, (double)size / seconds / 1e6);
    (void)unlink(path);
    free(text);
    return 0;
}
