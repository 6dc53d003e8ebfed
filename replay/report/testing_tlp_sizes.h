/* testing_tlp_sizes: traces of PCIe packets made up for tests. */
#pragma once

#include "trace/base/testing.h"
#include "trace/derived/tlp_sink.h"

/* A trace of `reads` reads of 64 bytes with latencies 1, 2, 3 ... us and their completions, in two captures. */
static inline struct store *testing_packets(int captures, int reads, bool finish)
{
    struct err err = {""};
    const char *path = testing_file("tlp.db");
    struct store *store = store_create(path, true, "test", &err);
    for (int c = 0; c < captures; c++) {
        struct tlp_sink *sink = tlp_sink_open(store, c, &err);
        struct tlp read = {.type = TLP_MRD, .byte0 = 0x00, .length_dw = 16, .first_be = 15, .last_be = 15, .bytes = 64};
        struct tlp reply = {.type = TLP_CPLD, .byte0 = 0x4a, .length_dw = 16, .byte_count = 64, .bytes = 64};
        for (int i = 0; i < reads; i++) {
            struct tlp_item item = {.record.time = (int64_t)i * 1000000,
                                    .packet = 2 * (unsigned)i + 1,
                                    .side = 1,
                                    .reply = 64,
                                    .direction = tlp_sink_direction(sink, "10.0.0.1")};
            tlp_to_record(&read, &item.record);
            ck_assert_int_eq(tlp_sink_add(sink, &item, &err), 0);
            item = (struct tlp_item){.record.time = (int64_t)i * 1000000 + (i + 1) * 1000,
                                     .packet = 2 * (unsigned)i + 2,
                                     .side = 1,
                                     .direction = tlp_sink_direction(sink, "10.0.0.2")};
            tlp_to_record(&reply, &item.record);
            ck_assert_int_eq(tlp_sink_add(sink, &item, &err), 0);
        }
        tlp_sink_total(sink, "packets", 2 * reads);
        tlp_sink_defect(sink, TLP_MRD, "first byte enables 0 with a length over 1 DW");
        ck_assert_int_eq(finish ? tlp_sink_finish(sink, &err) : tlp_sink_drain(sink, INT64_MAX, &err), 0);
        tlp_sink_free(sink);
    }
    ck_assert_int_eq((finish ? store_finish : store_keep)(store, &err), 0);
    store_close(store);
    store = store_open(path, &err);
    ck_assert_msg(store != NULL, "%s", err.msg);
    return store;
}
