#include "replay/uvm/uvm_recording.h"

#include "replay/uvm/tape_testing.h"

enum { BASE = 0x40000000 };

static void load(struct uvm_recording *r, const struct tape *t)
{
    uvm_recording_init(r);
    for (size_t i = 0; i < t->count; i += 1000) /* in parts, as from a store */
        WORKS(uvm_recording_add(r, t->records + i, t->count - i < 1000 ? t->count - i : 1000, &err));
    WORKS(uvm_recording_finish(r, &err));
}

START_TEST(batches_and_pages_come_back_as_they_were_made)
{
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "tree", NULL, BASE, 16 * UVM_BLOCK_BYTES);
    tape_cpu_writes(&t);
    tape_random(&t, 16, 60, 40, 1);
    load(&r, &t);
    ck_assert_uint_eq(r.batches.count, t.batches);
    ck_assert_uint_eq(r.fault_pages, t.faults);
    ck_assert_uint_eq((r.fault_pages + r.prefetch_pages) * UVM_PAGE_BYTES, t.bytes);
    ck_assert_uint_eq(r.piece_count, 16);
    ck_assert_uint_eq(r.structure_bytes, 16 * UVM_BLOCK_BYTES);
    ck_assert(r.known_data && !r.known_sizes);
    uint64_t faults = 0, services = 0;
    for (size_t e = 0; e < r.event_count; e++)
        for (size_t v = r.events[e].first; v < r.events[e].first + r.events[e].count; v++) {
            struct page_mask f, p;
            uvm_visit_pages(&r, &r.visits[v], &f, &p);
            ck_assert(!page_mask_intersects(&f, &p));
            faults += page_mask_count(&f);
            services++;
        }
    ck_assert_uint_eq(faults, t.faults);
    ck_assert_uint_eq(services, t.services);
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

/* Addresses have 57 bits: what ends there is memory, what ends behind it is none. */
START_TEST(memory_ends_where_addresses_end)
{
    const uint64_t end = UINT64_C(1) << 57;
    for (uint64_t behind = 0; behind < 2; behind++) {
        struct tape t;
        struct uvm_recording r;
        tape_init(&t, "none", NULL, BASE, UVM_BLOCK_BYTES);
        tape_allocation(&t, end - UVM_BLOCK_BYTES, UVM_BLOCK_BYTES + behind);
        tape_add(&t, (struct record){.kind = RECORD_MIGRATE_H2D,
                                     .time = 10,
                                     .duration = 5,
                                     .addr = end - UVM_BLOCK_BYTES,
                                     .bytes = UVM_BLOCK_BYTES,
                                     .flags = RECORD_CAUSE_USER});
        load(&r, &t);
        ck_assert_uint_eq(r.allocation_count, 1 - behind);
        ck_assert_uint_eq(r.piece_count, 1);
        ck_assert_uint_eq(r.pieces[0].start, end - UVM_BLOCK_BYTES);
        ck_assert_uint_eq(r.pieces[0].end, end);
        ck_assert_uint_eq(r.moved_pages, UVM_BLOCK_PAGES);
        uvm_recording_release(&r);
        tape_release(&t);
    }
}
END_TEST

START_TEST(evictions_and_the_programs_own_prefetches_are_events_of_their_own)
{
    const struct record records[] = {{.kind = RECORD_MIGRATE_H2D,
                                      .time = 10,
                                      .duration = 5,
                                      .addr = BASE,
                                      .bytes = 2 * UVM_BLOCK_BYTES,
                                      .flags = RECORD_CAUSE_USER},
                                     {.kind = RECORD_MIGRATE_D2H,
                                      .time = 90,
                                      .duration = 5,
                                      .addr = BASE,
                                      .bytes = UVM_BLOCK_BYTES,
                                      .flags = RECORD_CAUSE_EVICTION},
                                     {.kind = RECORD_MIGRATE_H2D,
                                      .time = 100,
                                      .duration = 5,
                                      .addr = BASE + 3 * UVM_BLOCK_BYTES,
                                      .bytes = 4096,
                                      .flags = RECORD_CAUSE_FAULT},
                                     {.kind = RECORD_KERNEL, .time = 1, .duration = 500}};
    struct uvm_recording r;
    uvm_recording_init(&r);
    ck_assert_int_eq(uvm_recording_add(&r, records, 4, NULL), 0);
    ck_assert_int_eq(uvm_recording_finish(&r, NULL), 0);
    ck_assert_uint_eq(r.event_count, 3);
    ck_assert_int_eq(r.events[0].kind, UVM_EVENT_USER_IN);
    ck_assert_uint_eq(r.events[0].count, 2); /* two VA blocks */
    ck_assert_int_eq(r.events[1].kind, UVM_EVENT_EVICT);
    ck_assert_int_eq(r.events[2].kind, UVM_EVENT_BATCH);
    ck_assert_uint_eq(r.evictions, 1);
    ck_assert_uint_eq(r.user_bytes, 2 * UVM_BLOCK_BYTES);
    ck_assert_int_eq(r.kernel_ns, 500);
    uvm_recording_release(&r);
}
END_TEST

START_TEST(one_eviction_may_be_several_copies_of_its_block)
{
    struct record records[4];
    static const uint64_t at[] = {BASE, BASE + 65536, BASE + UVM_BLOCK_BYTES, BASE};
    for (int i = 0; i < 4; i++)
        records[i] = (struct record){.kind = RECORD_MIGRATE_D2H,
                                     .time = 100 + i * 10,
                                     .duration = 5,
                                     .addr = at[i],
                                     .bytes = 65536,
                                     .flags = RECORD_CAUSE_EVICTION};
    struct uvm_recording r;
    uvm_recording_init(&r);
    ck_assert_int_eq(uvm_recording_add(&r, records, 4, NULL), 0);
    ck_assert_int_eq(uvm_recording_finish(&r, NULL), 0);
    ck_assert_uint_eq(r.event_count, 4);
    ck_assert_uint_eq(r.evictions, 3); /* the first block, the second, and the first once more */
    ck_assert_uint_eq(r.back_bytes, 4 * 65536);
    uvm_recording_release(&r);
}
END_TEST

START_TEST(allocations_cut_a_va_block_into_pieces)
{
    const struct record records[] = {
        {.kind = RECORD_ALLOC, .addr = BASE, .bytes = 100 * 4096, .flags = RECORD_ALLOC_MANAGED},
        {.kind = RECORD_ALLOC, .addr = BASE + 100 * 4096, .bytes = 1000 * 4096 - 7, .flags = RECORD_ALLOC_MANAGED},
        {.kind = RECORD_MIGRATE_H2D,
         .time = 100,
         .duration = 5,
         .addr = BASE + 98 * 4096,
         .bytes = 2 * 4096,
         .flags = RECORD_CAUSE_FAULT},
        {.kind = RECORD_MIGRATE_H2D,
         .time = 105,
         .duration = 5,
         .addr = BASE + 100 * 4096,
         .bytes = 4096,
         .flags = RECORD_CAUSE_PREFETCH}};
    struct uvm_recording r;
    uvm_recording_init(&r);
    ck_assert_int_eq(uvm_recording_add(&r, records, 4, NULL), 0);
    ck_assert_int_eq(uvm_recording_finish(&r, NULL), 0);
    ck_assert(r.known_sizes);
    ck_assert_uint_eq(r.piece_count, 4); /* memory that was not seen may have been touched without a record */
    ck_assert_uint_eq(r.pieces[0].shape.end, 100);
    ck_assert_uint_eq(r.pieces[1].start, BASE + 100 * 4096);
    ck_assert_uint_eq(r.visit_count, 2);
    ck_assert_uint_eq(r.structure_bytes, 1100 * 4096 - 7);
    ck_assert_ptr_eq(uvm_recording_piece(&r, BASE + 512 * 4096), &r.pieces[2]);
    ck_assert(!r.pieces[2].migrated && !r.more_memory);
    ck_assert_ptr_eq(uvm_recording_piece(&r, BASE + 1100 * 4096), NULL);
    uvm_recording_release(&r);
}
END_TEST

START_TEST(a_routine_ends_after_20_batches_or_a_long_gap)
{
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "none", NULL, BASE, UVM_BLOCK_BYTES);
    for (unsigned p = 0; p < 50; p++) {
        struct page_mask touched[TAPE_BLOCKS] = {0};
        page_mask_set(&touched[0], p * 2);
        tape_batch(&t, touched);
        if (p == 24)
            t.now += 1000000;
    }
    load(&r, &t);
    size_t ends[8], n = 0;
    for (size_t e = 0; e < r.event_count; e++)
        if (r.events[e].routine_end && n < 8)
            ends[n++] = e;
    ck_assert_uint_eq(n, 4);
    ck_assert(ends[0] == 19 && ends[1] == 24 && ends[2] == 44 && ends[3] == 49);
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

START_TEST(sizes_that_no_memory_could_hold_are_refused)
{
    const struct record records[] = {
        {.kind = RECORD_MIGRATE_H2D, .time = 10, .addr = BASE, .bytes = 1ull << 50, .flags = RECORD_CAUSE_USER}};
    struct uvm_recording r;
    uvm_recording_init(&r);
    WORKS(uvm_recording_add(&r, records, 1, &err));
    FAILS_WITH(uvm_recording_finish(&r, &err), "1125899906842624");
    uvm_recording_release(&r);
}
END_TEST

/* For make asan: there is no array of events to sort. */
START_TEST(a_trace_without_events_is_an_empty_recording)
{
    struct uvm_recording r;
    uvm_recording_init(&r);
    WORKS(uvm_recording_add(&r, &(struct record){.kind = RECORD_KERNEL, .time = 5, .duration = 10}, 1, &err));
    WORKS(uvm_recording_finish(&r, &err));
    ck_assert_uint_eq(r.event_count + r.visit_count + r.piece_count, 0);
    uvm_recording_release(&r);
}
END_TEST

START_TEST(the_end_of_an_allocation_inside_a_va_block_is_found)
{
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "tree", NULL, BASE, 3 * UVM_BLOCK_BYTES + 420 * UVM_PAGE_BYTES);
    tape_cpu_writes(&t);
    tape_sweep(&t, 3, 1, 37);
    for (unsigned p = 0; p < 420; p += 30) {
        struct page_mask touched[TAPE_BLOCKS] = {0};
        page_mask_set_region(&touched[3], p, p + 7);
        tape_batch(&t, touched);
    }
    load(&r, &t);
    ck_assert_uint_eq(r.piece_count, 4);
    ck_assert_uint_eq(r.edges_cut, 1);
    ck_assert_uint_eq(r.pieces[3].end, BASE + 3 * UVM_BLOCK_BYTES + 420 * UVM_PAGE_BYTES);
    ck_assert_uint_eq(r.structure_bytes, 3 * UVM_BLOCK_BYTES + 420 * UVM_PAGE_BYTES);
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

START_TEST(the_begin_of_an_allocation_inside_a_va_block_is_found)
{
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "tree", NULL, BASE, 16 * UVM_BLOCK_BYTES);
    uvm_block_init(&t.blocks[0], BASE + 92 * UVM_PAGE_BYTES, BASE + UVM_BLOCK_BYTES);
    tape_cpu_writes(&t);
    for (unsigned p = t.blocks[0].first; p + 7 < t.blocks[0].end; p += 30) {
        struct page_mask touched[TAPE_BLOCKS] = {0};
        page_mask_set_region(&touched[0], p, p + 7);
        tape_batch(&t, touched);
    }
    for (unsigned b = 1; b < 16; b++)
        for (unsigned p = 0; p < 512; p += 37) {
            struct page_mask touched[TAPE_BLOCKS] = {0};
            page_mask_set(&touched[b], p);
            tape_batch(&t, touched);
        }
    load(&r, &t);
    ck_assert_uint_eq(r.piece_count, 16);
    ck_assert_uint_eq(r.edges_cut, 1);
    ck_assert_uint_eq(r.pieces[0].start, BASE + 92 * UVM_PAGE_BYTES);
    ck_assert_uint_eq(r.pieces[15].end, BASE + 16 * UVM_BLOCK_BYTES);
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

START_TEST(a_block_that_was_only_partly_used_is_not_taken_for_an_edge)
{
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "tree", NULL, BASE, 8 * UVM_BLOCK_BYTES);
    tape_random(&t, 8, 12, 10, 3);
    load(&r, &t);
    ck_assert_uint_eq(r.edges_cut, 0);
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

START_TEST(pages_the_cpu_never_wrote_hold_no_data)
{
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "none", NULL, BASE, 2 * UVM_BLOCK_BYTES);
    tape_add(&t, (struct record){.kind = RECORD_CPU_FAULT, .time = 5, .addr = BASE + 20 * 4096, .flags = RECORD_WRITE});
    struct page_mask touched[TAPE_BLOCKS] = {0};
    page_mask_set(&touched[0], 20);
    page_mask_set(&touched[1], 3);
    tape_batch(&t, touched);
    load(&r, &t);
    ck_assert(r.known_data);
    ck_assert_uint_eq(page_mask_count(&r.pieces[0].populated), 16); /* the CPU fault brought 64 KiB */
    ck_assert_uint_eq(page_mask_count(&r.pieces[1].populated), 1);  /* what moved did hold data */
    ck_assert_uint_eq(r.touched_pages, 2);
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

/* Every way in which five VA blocks are unseen, written by the CPU only, or moved: without sizes, blocks that touch are
 * one allocation, and those of which a page moved count. */
START_TEST(blocks_that_touch_are_one_allocation)
{
    enum { BLOCKS = 5, WAYS = 3 * 3 * 3 * 3 * 3 };
    for (int way = 1; way < WAYS; way++) {
        struct tape t;
        struct uvm_recording r;
        struct page_mask touched[TAPE_BLOCKS] = {0};
        bool seen[BLOCKS + 1] = {false}, moved[BLOCKS] = {false};
        tape_init(&t, "none", NULL, BASE, BLOCKS * UVM_BLOCK_BYTES);
        for (int b = 0, w = way; b < BLOCKS; b++, w /= 3) {
            seen[b] = w % 3 > 0;
            moved[b] = w % 3 == 2;
            if (moved[b])
                page_mask_set(&touched[b], 7);
            else if (seen[b])
                tape_add(&t, (struct record){.kind = RECORD_CPU_FAULT,
                                             .time = 5 + b,
                                             .addr = BASE + (uint64_t)b * UVM_BLOCK_BYTES,
                                             .flags = RECORD_WRITE});
        }
        tape_batch(&t, touched);
        uint64_t expect = 0;
        size_t pieces = 0;
        for (int b = 0; b < BLOCKS;) {
            uint64_t blocks = 0;
            bool any = false;
            for (; seen[b]; b++) {
                blocks++;
                any |= moved[b];
            }
            expect += any ? blocks * UVM_BLOCK_BYTES : 0;
            pieces += blocks;
            b += blocks == 0;
        }
        load(&r, &t);
        ck_assert_uint_eq(r.piece_count, pieces);
        ck_assert_uint_eq(r.structure_bytes, expect);
        uvm_recording_release(&r);
        tape_release(&t);
    }
}
END_TEST

/* Two allocations in every way of lying, told by name: those of which a page moved count, as large as they were asked
 * for. */
START_TEST(allocations_count_by_their_own_sizes)
{
    for (unsigned gap = 0; gap < 3; gap++)
        for (unsigned moved = 0; moved < 4; moved++) {
            static const uint64_t sizes[] = {5000, 3 * UVM_PAGE_BYTES};
            const uint64_t starts[] = {BASE, BASE + (uint64_t)(2 + gap * 300) * UVM_PAGE_BYTES};
            struct tape t;
            struct uvm_recording r;
            tape_init(&t, "none", NULL, BASE, 2 * UVM_BLOCK_BYTES);
            for (int a = 0; a < 2; a++) {
                struct page_mask touched[TAPE_BLOCKS] = {0};
                const unsigned page = (unsigned)((starts[a] - BASE) / UVM_PAGE_BYTES);
                tape_allocation(&t, starts[a], sizes[a]);
                page_mask_set(&touched[page / UVM_BLOCK_PAGES], page % UVM_BLOCK_PAGES);
                if (moved >> a & 1)
                    tape_batch(&t, touched);
                else
                    tape_add(&t, (struct record){.kind = RECORD_CPU_FAULT, .time = 5 + a, .addr = starts[a]});
            }
            load(&r, &t);
            ck_assert_uint_eq(r.piece_count, 2);
            ck_assert_uint_eq(r.structure_bytes, (moved & 1 ? sizes[0] : 0) + (moved & 2 ? sizes[1] : 0));
            uvm_recording_release(&r);
            tape_release(&t);
        }
}
END_TEST

TEST_MAIN("uvm_recording")
