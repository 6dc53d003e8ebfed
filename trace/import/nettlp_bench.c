/* nettlp_bench FILE READS: the capture that `make bench` imports: so many 512 B reads and their two completions each,
 * 128 B of a packet kept, as NetTLP captures are. */
#include <stdio.h>
#include <stdlib.h>

#include "trace/event/testing_tlp.h"

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
    size_t bytes = build_tlp(tlp, part ? &reply : &read);
    return build_frame(frame, part ? &in : &out, tlp, bytes);
}

int main(int argc, char **argv)
{
    static const struct build_pcap c = {.snaplen = 128, .link = 1};
    uint8_t frame[BUILD_MOST + 256];
    FILE *f = argc == 3 ? fopen(argv[1], "wb") : NULL;
    if (!f)
        return 1;
    unsigned packets = 3 * (unsigned)strtoul(argv[2], NULL, 10);
    (void)fwrite("\x4d\x3c\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\x80\0\0\0\1\0\0\0", 1, 24, f);
    for (unsigned i = 0; i < packets; i++) {
        size_t n = frame_of(frame, i / 3, i % 3);
        build_pcap_packet(f, &c, (int64_t)i * 200 + (int64_t)(i * 2654435761u >> 25), frame, n, n);
    }
    return fclose(f) != 0;
}
