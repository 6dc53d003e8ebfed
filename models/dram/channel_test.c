/* Closed forms of the channel: latencies, bandwidths, PIM rates; timing rules by an independent watch. */
#include "models/base/sections.h"
#include "models/dram/policy_testing.h"
#include "trace/base/param_value.h"

/* Numbers of the gv100 platform: tRCD 12, tRCDWR 9, tRAS 28, tRP 12, tRC 40, CL 12, WL 2, tCCD 1, tCCDL 2, tWTP 13. */

START_TEST(an_unloaded_read_takes_act_and_cl)
{
    const struct dram_request r[] = {{0, 1, 0, 0, TEST_RD}};
    test_run("f3fs", "", r, 1, 1);
    /* Enters at 0, seen and activated at 1, column tRCD later, data CL later. */
    ck_assert_int_eq(test_sched[0], 1);
    ck_assert_int_eq(test_column[0], 1 + 12);
    ck_assert_int_eq(test_done[0], 1 + 12 + 12);
    ck_assert_int_eq(test_feed.cycles, 26);
}
END_TEST

START_TEST(an_unloaded_hit_takes_cl)
{
    const struct dram_request r[] = {{0, 1, 0, 0, TEST_RD}, {1000, 1, 1, 0, TEST_RD}};
    test_run("f3fs", "", r, 2, 1);
    ck_assert_int_eq(test_done[1], 1000 + 1 + 12);
    ck_assert_int_eq(test_stats.hits[DRAM_MEM], 1);
}
END_TEST

START_TEST(an_unloaded_conflict_takes_pre_act_and_cl)
{
    const struct dram_request r[] = {{0, 1, 0, 0, TEST_RD}, {1000, 2, 0, 0, TEST_RD}};
    test_run("f3fs", "", r, 2, 1);
    ck_assert_int_eq(test_done[1], 1000 + 1 + 12 + 12 + 12);
    ck_assert_int_eq(test_stats.precharges, 1);
}
END_TEST

START_TEST(sequential_reads_over_two_groups_move_an_atom_per_cycle)
{
    struct dram_request r[2000];
    for (int i = 0; i < 2000;
         i++) /* 8 columns of an even bank, then 8 of the next: groups alternate within the queue */
        r[i] = (struct dram_request){0, 1, (uint16_t)(i / 2 % 64), (uint8_t)(i % 2), TEST_RD};
    test_run("frfcfs", "", r, 2000, 1);
    /* First column at 13; then one column per cycle, less a few at the start. */
    ck_assert_int_le(test_feed.cycles, 2000 + 13 + 12 + 8);
    ck_assert_int_eq(test_stats.activates, 2);
}
END_TEST

START_TEST(one_bank_group_moves_an_atom_per_tccdl)
{
    struct dram_request r[1000];
    for (int i = 0; i < 1000; i++)
        r[i] = (struct dram_request){0, 1, (uint16_t)(i % 64), 4, TEST_RD};
    test_run("frfcfs", "", r, 1000, 1);
    ck_assert_int_eq(test_column[999] - test_column[0], 999 * 2);
}
END_TEST

START_TEST(row_conflicts_of_one_bank_take_trc)
{
    struct dram_request r[100];
    for (int i = 0; i < 100; i++)
        r[i] = (struct dram_request){0, 1 + (uint32_t)i, 0, 0, TEST_RD};
    test_run("frfcfs", "", r, 100, 1);
    ck_assert_int_eq(test_column[99] - test_column[0], 99 * 40);
    for (int i = 0; i < 100; i++) /* writes: tRCDWR 9, then tWTP 13, tRP 12 = 34 < tRC 40 */
        r[i].flags = TEST_WR;
    test_run("frfcfs", "", r, 100, 1);
    ck_assert_int_eq(test_column[99] - test_column[0], 99 * 40);
}
END_TEST

START_TEST(a_pim_block_of_sixteen_takes_64_cycles_with_a_row_change_and_32_without)
{
    struct dram_request r[1600];
    for (int i = 0; i < 1600; i++)
        r[i] = (struct dram_request){0, 4096 + (uint32_t)(i / 16), 0, 0, TEST_PIM};
    test_run("f3fs", "", r, 1600, 1);
    for (int i = 16; i < 1600; i += 16)
        ck_assert_int_eq(test_column[i] - test_column[i - 16], 64);
    ck_assert_int_eq(test_column[16] - test_column[15], 34);
    ck_assert_int_eq(test_stats.activates, 100);
    for (int i = 0; i < 1600; i++)
        r[i].row = 4096;
    test_run("f3fs", "", r, 1600, 1);
    ck_assert_int_eq(test_column[1599] - test_column[0], 1599 * 2);
    ck_assert_int_eq(test_stats.slot_sum, 16 * test_stats.slot_cycles);
}
END_TEST

START_TEST(a_write_back_of_128_bytes_takes_four_columns)
{
    const struct dram_request r[] = {{0, 1, 0, 0, 4 | DRAM_IS_WRITE | DRAM_IS_POSTED}};
    test_run("f3fs", "", r, 1, 1);
    ck_assert_int_eq(test_column[0], 1 + 9 + 3 * 2);
    ck_assert_int_eq(test_stats.columns, 4);
}
END_TEST

START_TEST(no_class_waits_in_more_than_its_queue)
{
    struct dram_request r[400];
    for (int i = 0; i < 400; i++)
        r[i] = (struct dram_request){0, 1 + (uint32_t)i, 0, 0, TEST_RD};
    test_run("frfcfs", "", r, 400, 1);
    for (int i = 0; i < 400; i++) {
        int waiting = 0;
        for (int k = 0; k < 400; k++)
            waiting += test_enter[k] <= test_enter[i] && test_sched[k] > test_enter[i];
        ck_assert_int_le(waiting, 64);
    }
}
END_TEST

/* Of 256 at most 64 wait at one bank; what stands behind the 65th waits with it. */
START_TEST(a_long_queue_holds_64_of_a_bank)
{
    struct dram_platform platform;
    param_defaults(dram_params, &platform);
    platform.queue = 256;
    test_platform = &platform;
    struct dram_request r[400];
    int most[2] = {0, 0};
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 400; i++)
            r[i] = (struct dram_request){0, 1 + (uint32_t)i, 0, turn ? (uint8_t)(i % 16) : 0, TEST_RD};
        test_run("frfcfs", "", r, 400, 1);
        for (int i = 0; i < 400; i++) {
            int waiting = 0;
            for (int k = 0; k < 400; k++)
                waiting += test_enter[k] <= test_enter[i] && test_sched[k] > test_enter[i];
            most[turn] = waiting > most[turn] ? waiting : most[turn];
        }
    }
    test_platform = NULL;
    ck_assert_int_eq(most[0], 64);
    ck_assert_int_eq(most[1], 256);
}
END_TEST

START_TEST(a_limit_cuts_a_run_and_what_was_to_come_is_never)
{
    const struct dram_request r[] = {{0, 1, 0, 0, TEST_RD}, {0, 4096, 0, 0, TEST_PIM}, {50, 1, 0, 0, TEST_RD}};
    test_run_limited("f3fs", "", r, 3, 1, 20);
    ck_assert_int_eq(test_feed.cycles, 20);
    ck_assert(!test_feed.finished);
    ck_assert_int_eq(test_column[0], 13);
    ck_assert_int_eq(test_done[0], -1);
    ck_assert_int_eq(test_done[1], -1);
    ck_assert_int_eq(test_enter[2], -1);
}
END_TEST

START_TEST(far_future_cycles_do_not_wrap)
{
    const int64_t far = INT64_C(5) << 40;
    const struct dram_request r[] = {{0, 1, 0, 0, TEST_RD}, {far, 2, 0, 0, TEST_RD}, {far + 1, 4096, 0, 0, TEST_PIM}};
    test_run("frfcfs-cap", "", r, 3, 1);
    ck_assert_int_eq(test_done[1], far + 1 + 12 + 12 + 12);
}
END_TEST

START_TEST(an_illegal_command_is_an_error)
{
    struct dram_platform platform;
    param_defaults(dram_params, &platform);
    WORKS(dram_channel_init(&test_channel, &platform, &err));
    dram_legal_act(&test_channel.legal, &test_channel.timing, 10, 3, 7);
    dram_legal_rd(&test_channel.legal, &test_channel.timing, 21, 3, 3, 7); /* tRCD is 12 */
    FAILS_WITH(dram_channel_check(&test_channel, false, &err), "RD of bank 3 at cycle 21");
}
END_TEST

/* After a run that is well, each number that the check holds against another is put wrong by one. */
START_TEST(each_part_of_the_check_is_an_error)
{
    const struct dram_request r[] = {{0, 1, 0, 0, TEST_RD}, {5, 4096, 0, 0, TEST_PIM}};
    test_run("frfcfs", "", r, 2, 2);
    struct dram_channel *ch = &test_channel;
    int64_t *const books[] = {&ch->stats.in[DRAM_MEM],  &ch->stats.in[DRAM_PIM], &ch->stats.out[DRAM_MEM],
                              &ch->stats.out[DRAM_PIM], &ch->stats.columns,      &ch->stats.columns_in};
    for (size_t i = 0; i < sizeof books / sizeof *books; i++) {
        ++*books[i];
        FAILS_WITH(dram_channel_check(ch, true, &err), "conservation check failed");
        --*books[i];
        WORKS(dram_channel_check(ch, true, &err));
    }
    ch->stats.columns_in++; /* they may come yet */
    WORKS(dram_channel_check(ch, false, &err));
    ch->device.watch.bad = "tFAW";
    FAILS_WITH(dram_channel_check(ch, false, &err), "against tFAW");
}
END_TEST

START_TEST(a_rule_as_long_as_the_wheel_is_not_near)
{
    for (int64_t cycles = DRAM_WHEEL - 1; cycles <= DRAM_WHEEL + 1; cycles++) {
        struct dram_platform p;
        struct dram_channel ch;
        param_defaults(dram_params, &p);
        p.rp = cycles;
        WORKS(dram_channel_init(&ch, &p, &err));
        ck_assert_msg(ch.loop_mem_fits == (cycles < DRAM_WHEEL), "%lld cycles", (long long)cycles);
    }
}
END_TEST

/* What ends in the limit's cycle is cut off, a column command like the data; a run that ends there is whole. */
START_TEST(the_cycle_of_the_limit_is_behind_it)
{
    const struct dram_request read[] = {{0, 1, 0, 0, TEST_RD}}, pim[] = {{0, 4096, 0, 0, TEST_PIM}};
    for (int64_t limit = 25; limit <= 26; limit++) {
        test_run_limited("f3fs", "", read, 1, 1, limit);
        ck_assert(test_feed.finished == (limit == 26));
        ck_assert_int_eq(test_done[0], limit == 26 ? 25 : -1);
    }
    test_run("f3fs", "", pim, 1, 1);
    const int64_t column = test_column[0];
    for (int64_t limit = column; limit <= column + 1; limit++) {
        test_run_limited("f3fs", "", pim, 1, 1, limit);
        ck_assert_int_eq(test_column[0], limit > column ? column : -1);
        ck_assert_int_eq(test_done[0], -1);
    }
}
END_TEST

/* Cycles of before the new base are its first, but for those of a PIM request's commands: these are over. */
START_TEST(a_rebase_moves_every_cycle)
{
    struct dram_platform platform;
    param_defaults(dram_params, &platform);
    for (int64_t now = 1000; now <= 1001; now++) {
        struct dram_channel *ch = &test_channel;
        WORKS(dram_channel_init(ch, &platform, &err));
        ch->pim_column = ch->pim_activate = 1000;
        ch->last = 999;
        ch->act_ok[0] = 1500;
        ch->act_ok[1] = 900;
        dram_channel_rebase(ch, now);
        ck_assert(ch->base == now && ch->last == 999 - now);
        ck_assert(ch->act_ok[0] == 1500 - now && ch->act_ok[1] == 0 && ch->ready[0] == INT32_MAX);
        ck_assert(ch->pim_column == 1000 - now && ch->pim_activate == 1000 - now);
    }
}
END_TEST

START_TEST(what_the_loops_rarely_ask_for)
{
    /* Of two requests to an open row of one bank the first would have hit; a PIM request is none. */
    struct dram_platform platform;
    struct dram_channel *ch = &test_channel;
    param_defaults(dram_params, &platform);
    WORKS(dram_channel_init(ch, &platform, &err));
    ch->open_row[3] = 7;
    for (int i = 0; i < 4; i++) {
        ch->fifo.rows[i] = i < 3 ? 7 : 8;
        ch->fifo.banks[i] = i < 3 ? 3 : 4;
    }
    ch->fifo.flags[0] = DRAM_IS_PIM;
    ch->waiting[DRAM_MEM] = 3;
    ch->waiting[DRAM_PIM] = 1;
    ck_assert_int_eq(dram_channel_fifo_conflicts(ch), 1);
    /* A queue of 16 grows to 32 first. */
    for (int n = 16; n <= 17; n++) {
        struct dram_bank_queue *q = &ch->bank[0];
        q->live = ((UINT64_C(1) << n) - 1) << 20;
        dram_bank_queue_compact(q);
        ck_assert(q->live == (UINT64_C(1) << n) - 1 && q->tail == n && q->limit == (n == 16 ? 32 : 64));
    }
    /* The fifth ACT waits for the window of the first. */
    ch->timing.faw = 50;
    for (int32_t t = 0; t < 40; t += 10)
        dram_device_gave(ch, DRAM_ACT, DRAM_BANK(0), 1, t);
    ck_assert_int_eq(ch->rrd_ok, 50);
}
END_TEST

TEST_MAIN("channel")
