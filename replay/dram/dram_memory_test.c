/* The memory alone: packets from lists instead of multiprocessors. */
#include "replay/dram/dram_memory.h"

#include "replay/dram/dram_testing.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"

enum { INPUTS = 72, MOST = 40000 };

/* Packets of each input, in order; when each was taken and answered, in core cycles. */
struct lists {
    struct sms_packet packet[MOST];
    int64_t ready[MOST], taken[MOST], answered[MOST];
    uint32_t input[MOST], next[MOST], head[INPUTS], last[INPUTS], count, answers;
    uint64_t heads[(INPUTS + 63) / 64];
    uint32_t base; /* input of its sm 0 */
    int64_t now;
};

static const struct sms_packet *list_head(const void *ctx, uint32_t sm)
{
    const struct lists *l = ctx;
    return l->heads[sm / 64] >> sm % 64 & 1 ? &l->packet[l->head[sm]] : NULL;
}

static void look(struct lists *l, uint32_t sm)
{
    const uint32_t at = l->head[sm];
    if (at != UINT32_MAX && l->ready[at] <= l->now)
        l->heads[sm / 64] |= UINT64_C(1) << sm % 64;
}

static void list_pop(void *ctx, uint32_t sm, int64_t t)
{
    struct lists *l = ctx;
    l->taken[l->head[sm]] = t;
    l->head[sm] = l->next[l->head[sm]];
    l->heads[sm / 64] &= ~(UINT64_C(1) << sm % 64);
    look(l, sm);
}

static void list_reply(void *ctx, uint32_t sm, uint32_t token, int64_t t)
{
    struct lists *l = ctx;
    if (token >= l->count || l->input[token] != sm || l->answered[token] >= 0)
        ck_abort_msg("packet %u answered to multiprocessor %u", token, sm);
    l->answered[token] = t;
    l->answers++;
}

static void list_clear(struct lists *l)
{
    memset(l, 0, sizeof *l);
    for (uint32_t i = 0; i < INPUTS; i++)
        l->head[i] = UINT32_MAX;
}

static uint32_t add(struct lists *l, uint32_t sm, int64_t ready, uint8_t kind, uint64_t addr)
{
    const uint32_t at = l->count++;
    ck_assert_uint_lt(at, MOST);
    l->packet[at] = (struct sms_packet){.addr = addr, .token = at, .kind = kind, .whole = kind == RECORD_WRITE};
    l->ready[at] = ready;
    l->taken[at] = l->answered[at] = -1;
    l->input[at] = sm;
    l->next[at] = UINT32_MAX;
    if (l->head[sm] == UINT32_MAX)
        l->head[sm] = at;
    else
        l->next[l->last[sm]] = at;
    l->last[sm] = at;
    return at;
}

static struct platform *platform;
static struct replay_policy policy;
static struct dram_memory m;

static void open_memory(const char *name, int vcs, struct lists *lists, uint32_t count)
{
    platform = GIVES(platform_load("gv100", &err));
    policy.head = policy_find(dram_policies, name);
    policy.params = GIVES(mem_zalloc(1, policy.head->state_size, &err));
    param_defaults(policy.head->params, policy.params);
    struct dram_port port[2];
    for (uint32_t p = 0; p < count; p++)
        port[p] = (struct dram_port){.ctx = &lists[p],
                                     .sms = p ? 8 : INPUTS,
                                     .heads = lists[p].heads,
                                     .head = list_head,
                                     .pop = list_pop,
                                     .reply = list_reply};
    WORKS(dram_memory_init(&m, platform, &policy, vcs, port, count, &err));
}

static void close_memory(void)
{
    dram_memory_release(&m);
    free(policy.params);
    platform_free(platform);
}

/* Until `answers` replies have come, or so many core cycles have gone by. */
static void run(struct lists *lists, uint32_t count, uint32_t answers, int64_t cycles)
{
    uint32_t got = 0;
    while (got < answers && m.clocks.core < cycles) {
        const unsigned ticks = dram_clocks_tick(&m.clocks);
        if (ticks & DRAM_TICK_DRAM) {
            dram_memory_dram(&m);
            m.clocks.dram++;
        }
        if (!(ticks & DRAM_TICK_CORE))
            continue;
        for (uint32_t p = 0; p < count; p++) {
            lists[p].now = m.clocks.core;
            for (uint32_t i = 0; i < INPUTS; i++)
                look(&lists[p], i);
        }
        dram_memory_wake(&m);
        dram_memory_core(&m);
        m.clocks.core++;
        got = lists[0].answers + (count == 2 ? lists[1].answers : 0);
    }
    WORKS(dram_memory_check(&m, got == m.stats.packets[0] + m.stats.packets[1], &err));
}

static struct lists lists[2];

static uint64_t addr_of(uint32_t channel, uint32_t bank, uint32_t row, uint32_t column)
{
    return dram_map_encode(&m.l2.map, (struct dram_addr){channel, bank, row, column});
}

/* Cycle t: taken. t + 1: out of the interconnect, into the raster delay. t + 1 + 160: into the L2 queue. One more: L2;
 * a hit's reply. One more: through the interconnect to its multiprocessor. */
START_TEST(a_hit_without_company_takes_the_sum_of_its_stages)
{
    list_clear(lists);
    open_memory("f3fs", 1, lists, 1);
    const uint64_t addr = addr_of(3, 5, 100, 0);
    dram_l2_put(&m.l2, addr, 15, 0);
    const uint32_t one = add(lists, 7, 10, RECORD_READ, addr);
    run(lists, 1, 1, 10000);
    ck_assert_int_eq(lists->taken[one], 10);
    ck_assert_int_eq(lists->answered[one] - lists->taken[one], 1 + 160 + 1 + 1);
    ck_assert_uint_eq(m.stats.fetches, 0);
    close_memory();
}
END_TEST

/* Core cycles of the DRAM part, from the cycle in which L2 pushes at `core`: the next DRAM cycle takes it into the
 * latency queue, 100 core cycles later or at the next one it enters; then ACT 1 cycle after, 12 to the read, 12 to its
 * data, 1 to leave. */
static int64_t dram_part(int64_t core, int64_t cycles)
{
    const double core_s = 1.0 / 1132e6, dram_s = 1.0 / 850e6;
    int64_t k = 0;
    while ((double)k * dram_s <= (double)core * core_s) /* it ticks before the core cycle of the same time */
        k++;
    int64_t at = 0; /* the core counter in that DRAM cycle */
    while ((double)at * core_s < (double)k * dram_s)
        at++;
    const int64_t ready = at + 100;
    int64_t enters = k;
    for (int64_t c = at; c < ready;)
        for (enters++, c = at; (double)c * core_s < (double)enters * dram_s;)
            c++;
    const int64_t leaves = enters + cycles;
    int64_t back = 0;
    while ((double)back * core_s < (double)leaves * dram_s)
        back++;
    return back; /* the core cycle in which L2 sees it */
}

START_TEST(a_miss_without_company_takes_the_sum_of_its_stages)
{
    list_clear(lists);
    open_memory("f3fs", 2, lists, 1);
    const uint32_t one = add(lists, 7, 10, RECORD_READ, addr_of(3, 5, 100, 0));
    run(lists, 1, 1, 10000);
    const int64_t pushed = 10 + 1 + 160 + 1;
    /* Enter k; ACT k + 1; read k + 13; data k + 25; leaves k + 26. L2: filled; answered; the interconnect. */
    const int64_t back = dram_part(pushed, 1 + 12 + 12 + 1);
    ck_assert_int_eq(lists->answered[one], back + 1 + 1);
    close_memory();
}
END_TEST

START_TEST(a_pim_request_passes_the_raster_delay_and_l2_by)
{
    list_clear(lists);
    open_memory("f3fs", 2, lists, 1);
    const uint32_t one = add(lists, 7, 10, PROGRAM_PIM, addr_of(3, 8, 5000, 0));
    run(lists, 1, 1, 10000);
    /* Enter k; ACT k + 1; column k + 10; done k + 12; leaves k + 13. L2 acknowledges at once. */
    const int64_t back = dram_part(10 + 1, 1 + 9 + 2 + 1);
    ck_assert_int_eq(lists->answered[one], back + 1);
    close_memory();
}
END_TEST

/* Two reads of one sector: the second joins the first; a third, after they are back, hits. */
START_TEST(reads_of_a_sector_on_its_way_share_one_fetch)
{
    list_clear(lists);
    open_memory("f3fs", 1, lists, 1);
    const uint64_t addr = addr_of(0, 0, 7, 0);
    const uint32_t a = add(lists, 0, 0, RECORD_READ, addr), b = add(lists, 1, 5, RECORD_READ, addr);
    const uint32_t c = add(lists, 2, 2000, RECORD_READ, addr);
    run(lists, 1, 3, 10000);
    ck_assert_uint_eq(m.stats.fetches, 1);
    ck_assert_uint_eq(m.stats.merges, 1);
    ck_assert_int_eq(lists->answered[b], lists->answered[a] + 1);
    ck_assert_int_eq(lists->answered[c] - lists->taken[c], 163);
    close_memory();
}
END_TEST

/* PIM floods channel 0. Behind input 0's packet for it stands one for channel 9. */
static int64_t behind_a_blocked_head(int vcs)
{
    for (int p = 0; p < 2; p++)
        list_clear(&lists[p]);
    open_memory("pim-first", vcs, lists, 2);
    for (uint32_t i = 0; i < 4000; i++)
        add(&lists[1], i % 8, 0, PROGRAM_PIM, addr_of(0, 8, 5000 + i / 16, i % 8));
    for (uint32_t i = 0; i < 200; i++)
        add(lists, 0, 3000, RECORD_READ, addr_of(0, 2 * (i % 8), 10 + i, 0));
    const uint32_t other = add(lists, 0, 3000, RECORD_READ, addr_of(9, 0, 10, 0));
    run(lists, 2, UINT32_MAX, 30000);
    ck_assert_int_ge(lists->answered[other], 0);
    const int64_t took = lists->taken[other];
    close_memory();
    return took;
}

START_TEST(a_full_channel_holds_up_others_with_one_virtual_channel_and_not_with_two)
{
    const int64_t one = behind_a_blocked_head(1), two = behind_a_blocked_head(2);
    ck_assert_int_le(two, 3000 + 300); /* its 200 a cycle each, but for turns of PIM */
    ck_assert_int_gt(one, 3000 + 400);
}
END_TEST

/* Everything that is sent is answered once, under every policy, and a second run gives the same. */
static int64_t mixed(const char *name, int vcs)
{
    for (int p = 0; p < 2; p++)
        list_clear(&lists[p]);
    open_memory(name, vcs, lists, 2);
    uint64_t x = 99;
    for (uint32_t i = 0; i < 12000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        static const uint8_t kinds[] = {RECORD_READ, RECORD_READ, RECORD_WRITE, RECORD_ATOMIC};
        const uint64_t addr = addr_of((uint32_t)(x >> 5) % 4, (uint32_t)(x >> 20) % 16, 1 + (uint32_t)(x >> 30) % 64,
                                      (uint32_t)(x >> 50) % 64);
        add(lists, i % INPUTS, 0, kinds[x % 4], addr);
    }
    for (uint32_t i = 0; i < 6000; i++)
        add(&lists[1], i % 8, 0, PROGRAM_PIM, addr_of(i % 4, 8, 5000 + i / 512, i / 4 % 8));
    run(lists, 2, 18000, 3000000);
    ck_assert_msg(lists[0].answers == 12000 && lists[1].answers == 6000, "%s vcs=%d: %u and %u", name, vcs,
                  lists[0].answers, lists[1].answers);
    ck_assert_uint_eq(m.in_flight, 0);
    ck_assert_uint_eq(m.unused_count, m.flights);
    for (uint32_t c = 0; c < m.channels; c++) {
        const struct dram_partition *part = &m.part[c];
        ck_assert_int_le(dram_partition_credits(part), 64 + 64 + 16); /* write-backs that are still on their way */
    }
    const int64_t end = m.clocks.core;
    close_memory();
    return end;
}

START_TEST(every_packet_is_answered_once_under_every_policy)
{
    for (const struct policy_head *const *p = dram_policies; *p; p++)
        for (int vcs = 1; vcs <= 2; vcs++) {
            const int64_t end = mixed((*p)->name, vcs);
            ck_assert_int_eq(end, mixed((*p)->name, vcs));
        }
}
END_TEST

/* 72 inputs read one long row of lines in order: nearly what DRAM can give, never more. */
START_TEST(reads_in_order_come_near_the_bandwidth_of_dram)
{
    list_clear(lists);
    open_memory("frfcfs", 1, lists, 1);
    for (uint32_t i = 0; i < 36000; i++)
        add(lists, i / 4 % INPUTS, 0, RECORD_READ, 0xc0000000 + (uint64_t)i * 32);
    run(lists, 1, 36000, 100000);
    const double columns = 36000, cycles = (double)m.clocks.dram * 32;
    ck_assert_msg(columns / cycles > 0.6 && columns / cycles < 1, "%.2f columns a cycle and channel", columns / cycles);
    close_memory();
}
END_TEST

/* PIM requests of one channel, more than its queues hold: whenever the L2 to DRAM queue has room again for one that
 * stands before it, the slice is to be looked at. */
START_TEST(room_before_dram_wakes_the_slice_that_waits_for_it)
{
    enum { SUB = 3 * DRAM_SUBS, PIM_WAITS = 1 << (DRAM_VCS + 1), MANY = 2000 };
    list_clear(lists);
    open_memory("f3fs", 2, lists, 1);
    for (uint32_t i = 0; i < MANY; i++)
        add(lists, i % INPUTS, 0, PROGRAM_PIM, addr_of(3, 0, i / 8, 0));
    uint32_t full = 0;
    for (int64_t t = 1; lists->answers < MANY; t++) {
        run(lists, 1, MANY, t);
        ck_assert_int_lt(t, 1000000);
        const bool waits = m.sub[SUB].some & PIM_WAITS, room = dram_partition_room(&m.part[3], 0, 1);
        full += waits && !room;
        ck_assert(!waits || !room || m.awake[0] >> SUB & 1);
    }
    ck_assert_uint_gt(full, 100);
    close_memory();
}
END_TEST

/* One multiprocessor asks all channels, and takes one reply a cycle: the queues back from DRAM fill up, hold their
 * channels up, and go on. */
START_TEST(replies_that_jam_stop_the_channels_for_a_while)
{
    enum { MANY = 39000 };
    list_clear(lists);
    open_memory("f3fs", 2, lists, 1);
    for (uint32_t i = 0; i < MANY; i++)
        add(lists, 0, 0, PROGRAM_PIM, addr_of(i % 32, 0, i / 2048, 0));
    uint32_t full = 0;
    for (int64_t t = 1; lists->answers < MANY && t < 100000; t++) {
        run(lists, 1, MANY, t);
        for (uint32_t c = 0; c < m.channels; c++)
            full += m.part[c].full[0];
    }
    ck_assert_uint_gt(full, 100);
    ck_assert_uint_eq(lists->answers, MANY);
    close_memory();
}
END_TEST

TEST_MAIN("dram_memory")
