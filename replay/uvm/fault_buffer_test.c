/* The worked examples of the fault buffer, and what holds of any course of it. */
#include "replay/uvm/fault_buffer.h"

#include <string.h>

#include "trace/base/random.h"
#include "trace/base/testing.h"

enum { BATCH = 256 };

static uint32_t pages[BATCH];

static void open_ring(struct fault_buffer *r, uint32_t utlbs, double gap_ns)
{
    struct err err = {""};
    struct uvm_platform p = {
        .utlbs = utlbs, .gpcs = utlbs, .utlb_faults = 1024, .batch_faults = BATCH, .gpu_fault_gap_ns = gap_ns};
    ck_assert_msg(fault_buffer_init(r, &p, &err) == 0, "%s", err.msg);
}

static struct uvm_fetched fetch(struct fault_buffer *r, int64_t time_ns)
{
    fault_buffer_read_put(r, time_ns);
    return fault_buffer_fetch(r, BATCH, pages);
}

/* n pages from `first` on, `apart` ns apart, all of one micro-TLB. */
static void report(struct fault_buffer *r, uint32_t first, uint32_t n, int64_t time_ns, int64_t apart)
{
    for (uint32_t i = 0; i < n; i++)
        fault_buffer_report(r, first + i, 0, time_ns + apart * i);
}

/* F1, F2: pages 0, 1, 2; during the service 5 and 40 arrive; the replay repeats 40. */
START_TEST(f1_what_arrives_during_a_service_survives)
{
    struct fault_buffer r;
    open_ring(&r, 1, 0);
    report(&r, 0, 3, 10, 0);
    ck_assert_uint_eq(fetch(&r, 100).raw, 3);
    fault_buffer_report(&r, 5, 0, 150);
    fault_buffer_report(&r, 40, 0, 160);
    ck_assert_uint_eq(fault_buffer_flush(&r), 0);
    fault_buffer_replay(&r, 200);
    fault_buffer_report(&r, 40, 0, 210);
    struct uvm_fetched f = fetch(&r, 300);
    ck_assert_uint_eq(f.raw, 3);
    ck_assert_uint_eq(f.kept, 2);
    ck_assert_int_eq(f.first_ns, 150);
    ck_assert_uint_eq(f.page, 5);
    ck_assert_uint_eq(f.instances, 1);
    ck_assert_uint_eq(pages[1], 40);
    ck_assert(!fault_buffer_any(&r));
    fault_buffer_release(&r);
}
END_TEST

/* F3: 4 entries arrive during the service; the flush reads PUT again, or not. */
START_TEST(f3_a_flush_that_reads_put_again_leaves_nothing)
{
    for (int again = 0; again < 2; again++) {
        struct fault_buffer r;
        open_ring(&r, 1, 0);
        report(&r, 0, 10, 0, 0);
        ck_assert_uint_eq(fetch(&r, 0).raw, 10);
        report(&r, 20, 4, 50, 0);
        ck_assert_uint_eq(again ? fault_buffer_flush_again(&r, 90) : fault_buffer_flush(&r), again ? 4 : 0);
        fault_buffer_replay(&r, 100);
        ck_assert_uint_eq(fetch(&r, 100).raw, again ? 0 : 4);
        fault_buffer_release(&r);
    }
}
END_TEST

/* F4; and F6, a driver that replays after each batch and throws nothing away (uvm_perf_fault_replay_policy=1): PUT is
 * not read while GET is not there, so what the limit left is a batch alone; then comes the rest, with its repetitions.
 */
START_TEST(f4_what_the_limit_leaves_is_thrown_away)
{
    for (int flushed = 0; flushed < 2; flushed++) {
        struct fault_buffer r;
        open_ring(&r, 1, 0);
        report(&r, 0, 300, 0, 1);
        ck_assert_uint_eq(fetch(&r, 299).raw, 256);
        report(&r, 1000, 20, 350, 0);
        if (flushed) {
            ck_assert_uint_eq(fault_buffer_flush(&r), 44);
            fault_buffer_replay(&r, 400);
            ck_assert_uint_eq(fetch(&r, 400).raw, 20);
            fault_buffer_release(&r);
            continue;
        }
        fault_buffer_replay(&r, 400);
        report(&r, 256, 44, 410, 0); /* still missing: asked for again */
        ck_assert_uint_eq(fault_buffer_fetch(&r, BATCH, pages).raw, 44);
        ck_assert_uint_eq(pages[0], 256);
        fault_buffer_replay(&r, 500);
        ck_assert_uint_eq(fetch(&r, 500).raw, 20 + 44);
        ck_assert_uint_ge(pages[0], 1000); /* what survived stands in front */
        ck_assert_uint_lt(pages[63], 300);
        fault_buffer_release(&r);
    }
}
END_TEST

/* F5: entries 0 to 9; the driver finds number 6 not valid yet and stops before it (here: takes six). The flush waits
 * for it, and throws it and what is behind it away, up to the PUT that was read, and not what comes after that. */
START_TEST(f5_a_flush_goes_to_put_wherever_the_fetch_stopped)
{
    struct fault_buffer r;
    open_ring(&r, 1, 0);
    report(&r, 0, 10, 0, 1);
    fault_buffer_read_put(&r, 9);
    ck_assert_uint_eq(fault_buffer_fetch(&r, 6, pages).raw, 6);
    ck_assert_uint_eq(pages[5], 5);
    report(&r, 50, 1, 20, 0);
    ck_assert_uint_eq(fault_buffer_flush(&r), 4);
    ck_assert_uint_eq(fetch(&r, 30).raw, 1);
    ck_assert_uint_eq(pages[0], 50);
    ck_assert(!fault_buffer_any(&r));
    fault_buffer_release(&r);
}
END_TEST

/* A driver that throws nothing away and takes nothing: the buffer holds what the micro-TLB can list, 1,024 entries, the
 * oldest ones, in their order. */
START_TEST(what_finds_no_room_in_the_buffer_is_none)
{
    struct fault_buffer r;
    uint32_t taken = 0;
    open_ring(&r, 1, 0);
    r.exact = SIZE_MAX;
    for (int replay = 0; replay < 4; replay++) {
        report(&r, 600 * (uint32_t)replay, 600, 1000 * replay, 1);
        fault_buffer_replay(&r, 1000 * replay + 900);
        ck_assert_uint_eq(r.count - r.get, replay == 0 ? 600 : 1024);
    }
    for (uint32_t n; (n = fetch(&r, 5000).raw) > 0; taken += n)
        for (uint32_t i = 0; i < n; i++)
            ck_assert_uint_eq(pages[i], taken + i); /* ready one after the other */
    ck_assert_uint_eq(taken, 1024);
    ck_assert(!fault_buffer_any(&r));
    fault_buffer_release(&r);
}
END_TEST

/* F8: the top half read PUT when there were 3 entries; 5 more were written before the bottom half ran. The copy of PUT
 * stands until the driver reads it again. */
START_TEST(f8_a_fetch_ends_at_the_put_that_was_read)
{
    struct fault_buffer r;
    open_ring(&r, 1, 0);
    report(&r, 0, 3, 0, 0);
    fault_buffer_read_put(&r, 10);
    report(&r, 100, 5, 20, 0);
    ck_assert_uint_eq(fault_buffer_fetch(&r, BATCH, pages).raw, 3);
    ck_assert_uint_eq(fault_buffer_flush(&r), 0);
    ck_assert_uint_eq(fetch(&r, 30).raw, 5);
    ck_assert_uint_eq(pages[0], 100);
    fault_buffer_release(&r);
}
END_TEST

START_TEST(f9_entries_merge_with_the_last_of_their_micro_tlb_or_of_all)
{
    static const struct {
        uint32_t page, utlb;
    } list[] = {{7, 0}, {7, 0}, {7, 1}, {9, 0}, {7, 0}};
    struct fault_buffer r;
    open_ring(&r, 2, 0);
    for (int i = 0; i < 5; i++)
        fault_buffer_report(&r, list[i].page, list[i].utlb, i);
    struct uvm_fetched f = fetch(&r, 5);
    ck_assert_uint_eq(f.raw, 5);
    ck_assert_uint_eq(f.kept, 3);
    ck_assert_uint_eq(f.page, 7);
    ck_assert_uint_eq(f.instances, 3);
    fault_buffer_release(&r);
}
END_TEST

/* A merged entry that writes makes the kept one write; as the last of all it must not be stronger. */
START_TEST(a_stronger_access_becomes_the_entry)
{
    struct fault_buffer r;
    open_ring(&r, 2, 0);
    fault_buffer_report(&r, 7, 0, 0);
    fault_buffer_report(&r, 7 | UVM_FAULT_WRITE, 1, 1); /* another micro-TLB's, stronger: kept */
    fault_buffer_report(&r, 7 | UVM_FAULT_WRITE, 0, 2); /* its own one's last */
    struct uvm_fetched f = fetch(&r, 3);
    ck_assert_uint_eq(f.kept, 2);
    ck_assert_uint_eq(r.kept[0], 7 | UVM_FAULT_WRITE);
    ck_assert_uint_eq(f.instances, 2);
    fault_buffer_release(&r);
}
END_TEST

/* F11's counterpart of the whole GPU: one entry per 9 ns, PUT read 1,440 ns after the first. */
START_TEST(the_gpu_writes_at_its_rate)
{
    struct fault_buffer r;
    open_ring(&r, 8, 9);
    for (uint32_t i = 0; i < 1000; i++)
        fault_buffer_report(&r, i, i % 8, 500);
    struct uvm_fetched f = fetch(&r, 500 + 1440);
    ck_assert_uint_eq(f.raw, 161);
    ck_assert_int_eq(f.first_ns, 500);
    fault_buffer_replay(&r, 2000); /* the rest was not written in time */
    ck_assert_uint_eq(fetch(&r, 100000).raw, 6);
    ck_assert(!fault_buffer_any(&r));
    fault_buffer_release(&r);
}
END_TEST

/* What is ready together is written in an order that is another one after each replay, and the same in every run. */
START_TEST(the_order_of_what_is_ready_changes_with_each_replay)
{
    struct fault_buffer a, b;
    uint32_t first[64];
    open_ring(&a, 64, 5);
    open_ring(&b, 64, 5);
    for (int replay = 0; replay < 2; replay++) {
        for (uint32_t i = 0; i < 64; i++) {
            fault_buffer_report(&a, 2 * i, i, replay * 1000);
            fault_buffer_report(&b, 2 * i, i, replay * 1000);
        }
        ck_assert_uint_eq(fetch(&a, replay * 1000 + 500).raw, 64);
        if (replay)
            ck_assert_mem_ne(first, pages, sizeof first);
        memcpy(first, pages, sizeof first);
        ck_assert_uint_eq(fetch(&b, replay * 1000 + 500).raw, 64);
        ck_assert_mem_eq(first, pages, sizeof first);
        fault_buffer_replay(&a, replay * 1000 + 600);
        fault_buffer_replay(&b, replay * 1000 + 600);
    }
    fault_buffer_release(&a);
    fault_buffer_release(&b);
}
END_TEST

/* Every entry is taken, thrown away, left, or not written when a replay came: once. Nothing is taken before it was
 * ready, nor faster than the rate; GET does not pass PUT. */
START_TEST(no_entry_is_lost_or_made)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct fault_buffer r;
        struct random state = {seed};
        uint64_t reported = 0, taken = 0, thrown = 0, unwritten = 0;
        double gap = (double)(seed % 4) * 7;
        int64_t time = 0;
        open_ring(&r, 4, gap);
        for (int batch = 0; batch < 30; batch++) {
            uint32_t n = (uint32_t)(random_next(&state) % 700);
            for (uint32_t i = 0; i < n; i++, reported++)
                fault_buffer_report(&r, (uint32_t)(random_next(&state) % 64), (uint32_t)(random_next(&state) % 4),
                                    time + (int64_t)(random_next(&state) % 3000));
            time += (int64_t)(random_next(&state) % 3000);
            size_t before = r.get;
            struct uvm_fetched f = fetch(&r, time);
            ck_assert_uint_le(f.raw, BATCH);
            ck_assert_uint_eq(r.get, before + f.raw);
            ck_assert_uint_le(r.get, r.put);
            for (size_t i = before; i < r.get; i++) {
                ck_assert_int_le(r.entries[i].time_ns, time);
                if (i > before)
                    ck_assert_int_ge(r.entries[i].time_ns - r.entries[i - 1].time_ns, (int64_t)gap - 1);
            }
            taken += f.raw;
            time += 100;
            thrown += random_next(&state) % 2 ? fault_buffer_flush_again(&r, time) : fault_buffer_flush(&r);
            size_t left = r.count - r.get;
            fault_buffer_replay(&r, time += 100);
            unwritten += left - r.count;
            ck_assert_uint_eq(r.get, 0);
            if (fault_buffer_any(&r))
                ck_assert_int_le(fault_buffer_first_ns(&r), time);
        }
        ck_assert_uint_eq(taken + thrown + unwritten + r.count, reported);
        fault_buffer_release(&r);
    }
}
END_TEST

TEST_MAIN("fault_buffer")
