/* Packets per second from a capture in memory to a finished trace: 512 B reads and their two completions, 128 of each
 * kept, as NetTLP captures are. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "trace/readers/nettlp.h"
#include "trace/testing_tlp.h"

enum { READS = 1000000, PACKETS = 3 * READS };

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t frame_of(uint8_t *frame, unsigned i, unsigned part)
{
    uint8_t tlp[BUILD_MOST];
    unsigned tag = i & 255;
    struct build_tlp read = {.byte0 = 0x00,
                             .length = 128,
                             .enables = 0xff,
                             .tag = tag,
                             .requester = 0x1900,
                             .addr = 0xa0000000u + i % 65536 * 4096};
    struct build_tlp reply = {.byte0 = 0x4a,
                              .length = 64,
                              .byte_count = part == 1 ? 512 : 256,
                              .tag = tag,
                              .requester = 0x1900,
                              .completer = 0x1b00,
                              .payload = 256};
    struct build_frame out = {.tags = 1, .vlan = 100, .sequence = i & 1023, .stamp = i * 43 + 1};
    struct build_frame in = {.source = BUILD_HOST, .destination = BUILD_ADAPTER};
    return build_frame(frame, part ? &in : &out, tlp, build_tlp(tlp, part ? &reply : &read));
}

static char *capture(size_t *bytes)
{
    static const struct build_pcap c = {.snaplen = 128, .link = 1};
    char *data = NULL;
    FILE *f = tmpfile();
    uint8_t frame[BUILD_MOST + 256];
    (void)fwrite("\x4d\x3c\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\x80\0\0\0\1\0\0\0", 1, 24, f);
    for (unsigned i = 0; i < PACKETS; i++) {
        size_t n = frame_of(frame, i / 3, i % 3);
        build_pcap_packet(f, &c, (int64_t)i * 200 + (int64_t)(i * 2654435761u >> 25), frame, n, n);
    }
    *bytes = (size_t)ftell(f);
    rewind(f);
    data = malloc(*bytes);
    if (!data || fread(data, 1, *bytes, f) != *bytes)
        abort();
    (void)fclose(f);
    return data;
}

int main(void)
{
    struct err err = {""};
    size_t bytes;
    char *data = capture(&bytes), path[64];
    struct nettlp_options options = {.tlp_offset = -1};
    (void)snprintf(path, sizeof path, "/tmp/offchip-bench-%d.db", (int)getpid());
    double start = now();
    struct store *store = store_create(path, true, "bench", &err);
    struct source *source = store ? source_from_memory(data, bytes, &err) : NULL;
    struct reader_context context = {.store = store, .options = &options, .path = "capture"};
    if (!source || reader_run(&read_nettlp, &context, source, &err) || store_finish(store, &err)) {
        printf("failed: %s\n", err.msg);
        return 1;
    }
    source_close(source);
    store_close(store);
    double seconds = now() - start;
    FILE *f = fopen(path, "rb");
    (void)fseek(f, 0, SEEK_END);
    printf("pcap import: %.2f million packets/s (%d packets, %.0f MB/s of capture, %.1f bytes per packet stored)\n",
           PACKETS / seconds / 1e6, PACKETS, (double)bytes / seconds / 1e6, (double)ftell(f) / PACKETS);
    (void)fclose(f);
    (void)unlink(path);
    free(data);
    return 0;
}
