/* The streams of make bench-peers: written by offchip.c, read by all drivers. A file is an array of struct peer_request in
 * order of arrival (cycles of the DRAM clock). */
#ifndef PEERS_STREAM_H
#define PEERS_STREAM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct peer_request {
    int64_t arrival;
    uint32_t row;
    uint16_t column; /* of 32 B */
    uint8_t channel, bank, write, unused[7];
};

static inline struct peer_request *peer_read(const char *path, size_t *count)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    const long bytes = ftell(f);
    rewind(f);
    struct peer_request *r = (struct peer_request *)malloc((size_t)bytes + 1);
    *count = (size_t)bytes / sizeof *r;
    if (!r || fread(r, sizeof *r, *count, f) != *count) {
        perror(path);
        exit(1);
    }
    fclose(f);
    return r;
}

/* Processor time of this process. */
static inline double peer_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void peer_print(size_t requests, int64_t cycles, double seconds)
{
    printf("{\"requests\": %zu, \"cycles\": %lld, \"seconds\": %.6f}\n", requests, (long long)cycles, seconds);
}

#endif
