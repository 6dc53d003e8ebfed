#include "trace/derived/batches.h"

#include <math.h>
#include <stdlib.h>

#include "trace/base/testing.h"

enum { US = 1000 };
static const uint64_t base = 0x7f0000000000;

/* One service of `faults` pages in VA block `number`. */
static struct record at(int64_t start_us, int64_t end_us, uint64_t number, uint64_t faults)
{
    return (struct record){.kind = RECORD_MIGRATE_H2D,
                           .time = start_us * US,
                           .duration = (end_us - start_us) * US,
                           .addr = base + number * SERVICES_BLOCK_BYTES,
                           .bytes = faults * SERVICES_PAGE_BYTES,
                           .flags = RECORD_CAUSE_FAULT};
}

static struct record fault(int64_t start_us, int64_t end_us, uint64_t number)
{
    return (struct record){.kind = RECORD_FAULT,
                           .time = start_us * US,
                           .duration = (end_us - start_us) * US,
                           .addr = base + number * SERVICES_BLOCK_BYTES,
                           .bytes = 1,
                           .flags = RECORD_READ};
}

static void rebuild(struct batches *b, const struct record *records, size_t n)
{
    batches_init(b);
    WORKS(batches_add(b, records, n, &err));
    WORKS(batches_rebuild(b, &err));
}

static void expect(const struct batches *b, size_t n, const size_t *services)
{
    ck_assert_uint_eq(b->count, n);
    size_t next = 0;
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(b->items[i].count, services[i]);
        if (services[i] > 0)
            ck_assert_uint_eq(b->items[i].first, next);
        next += services[i];
    }
    ck_assert_uint_eq(next, b->services.count);
}

START_TEST(a_block_that_does_not_ascend_begins_a_batch)
{
    const struct record records[] = {at(0, 10, 1, 9),  at(12, 20, 2, 9), at(22, 30, 5, 9),
                                     at(32, 40, 5, 9), at(42, 50, 4, 9), at(52, 60, 6, 9)};
    struct batches b;
    rebuild(&b, records, 6);
    expect(&b, 3, (const size_t[]){3, 1, 2});
    ck_assert_int_eq(b.items[1].rule, BATCH_BLOCK);
    ck_assert_double_eq(b.items[1].confidence, 0.9);
    ck_assert_uint_eq(b.items[0].fault_pages, 27);
    ck_assert_uint_eq(b.rebuilt, 3);
    batches_release(&b);
}
END_TEST

START_TEST(gaps_end_batches_where_gaps_are_usual)
{
    /* A sweep: one block after the other, each a batch. */
    const struct record records[] = {at(0, 100, 1, 40), at(200, 300, 2, 40), at(400, 500, 3, 40), at(600, 700, 4, 40)};
    struct batches b;
    rebuild(&b, records, 4);
    expect(&b, 4, (const size_t[]){1, 1, 1, 1});
    ck_assert_int_eq(b.items[1].rule, BATCH_GAP);
    batches_release(&b);
}
END_TEST

START_TEST(one_gap_in_a_dense_long_run_does_not_end_a_batch_below_256_faults)
{
    struct record records[12];
    for (size_t i = 0; i < 12; i++)
        records[i] = at((int64_t)i * 10 + (i >= 6 ? 400 : 0), (int64_t)i * 10 + 8 + (i >= 6 ? 400 : 0), i, 20);
    struct batches b;
    rebuild(&b, records, 12);
    expect(&b, 1, (const size_t[]){12});
    ck_assert_double_eq(b.items[0].confidence, 0.5);
    batches_release(&b);
    for (size_t i = 0; i < 12; i++)
        records[i].bytes = 45 * SERVICES_PAGE_BYTES;
    rebuild(&b, records, 12);
    expect(&b, 2, (const size_t[]){6, 6});
    ck_assert_int_eq(b.items[1].rule, BATCH_GAP_FULL);
    batches_release(&b);
}
END_TEST

START_TEST(an_outlying_gap_ends_a_batch_in_a_short_run)
{
    const struct record records[] = {at(0, 10, 1, 9), at(12, 20, 2, 9), at(22, 30, 3, 9), at(330, 340, 4, 9)};
    struct batches b;
    rebuild(&b, records, 4);
    expect(&b, 2, (const size_t[]){3, 1});
    ck_assert_int_eq(b.items[1].rule, BATCH_GAP_OUTLIER);
    batches_release(&b);
}
END_TEST

START_TEST(a_gap_of_just_50_us_ends_nothing)
{
    for (int longer = 0; longer <= 1; longer++) {
        struct record records[] = {at(0, 100, 1, 40), at(150, 250, 2, 40), at(300, 400, 3, 40), at(450, 550, 4, 40)};
        for (int i = 1; i < 4; i++)
            records[i].time += i * longer; /* 50,000 or 50,001 ns */
        struct batches b;
        rebuild(&b, records, 4);
        ck_assert_uint_eq(b.count, longer ? 4 : 1);
        ck_assert_double_eq(b.items[0].confidence, longer ? 0.7 : 0.9);
        batches_release(&b);
    }
    /* Nor are gaps usual where the median is just that. */
    struct record usual[] = {at(0, 100, 1, 40), at(150, 250, 2, 40), at(300, 400, 3, 40), at(450, 550, 4, 40)};
    usual[3].time++;
    struct batches one;
    rebuild(&one, usual, 4);
    expect(&one, 1, (const size_t[]){4});
    ck_assert_double_eq(one.items[0].confidence, 0.5);
    batches_release(&one);
    /* Nor outside every fault record, nor for a copy that lags behind its own. */
    for (int longer = 0; longer <= 1; longer++) {
        struct record outside[] = {fault(0, 10, 9), at(100, 110, 1, 9), at(160, 170, 2, 9)};
        struct record lagging[] = {fault(0, 50, 1), at(20, 40, 1, 9), at(90, 95, 3, 9)};
        outside[2].time += longer;
        lagging[2].time += longer;
        struct batches b;
        rebuild(&b, outside, 3);
        ck_assert_uint_eq(b.count, longer ? 3 : 2); /* the record's own, empty, too */
        batches_release(&b);
        rebuild(&b, lagging, 3);
        ck_assert_uint_eq(b.count, longer ? 2 : 1);
        batches_release(&b);
    }
}
END_TEST

START_TEST(a_batch_is_confirmed_by_all_services_of_a_record_and_no_other)
{
    /* The record holds two services, cut into two batches: the front one and the back one are half of it each. */
    const struct record records[] = {fault(0, 100, 1), at(10, 20, 5, 9), at(22, 30, 1, 9)};
    struct batches b;
    rebuild(&b, records, 3);
    expect(&b, 1, (const size_t[]){2});
    ck_assert_uint_eq(b.rebuilt, 2);
    ck_assert_uint_eq(b.confirmed, 0);
    batches_release(&b);
}
END_TEST

START_TEST(fault_records_are_the_batches_and_empty_ones_stay)
{
    const struct record records[] = {fault(0, 100, 1),   at(20, 40, 1, 9),   at(42, 60, 3, 9),
                                     fault(101, 150, 1), fault(151, 300, 2), at(200, 250, 2, 9)};
    struct batches b;
    rebuild(&b, records, 6);
    expect(&b, 3, (const size_t[]){2, 0, 1});
    ck_assert_int_eq(b.items[1].rule, BATCH_RECORD);
    ck_assert_int_eq(b.items[1].start_ns, 101 * US);
    ck_assert_uint_eq(b.rebuilt, 2);
    ck_assert_uint_eq(b.confirmed, 2);
    batches_release(&b);
}
END_TEST

/* Memory without data comes behind what CUPTI calls the end. Of two replays with a number none is known to be it. */
START_TEST(a_batch_lasts_until_its_replay)
{
    struct record records[] = {fault(0, 2, 1),
                               fault(100, 102, 2),
                               fault(200, 202, 3),
                               fault(300, 302, 4),
                               {.kind = RECORD_REPLAY, .time = 160 * US, .group = 8},
                               {.kind = RECORD_REPLAY, .time = 60 * US, .group = 7},
                               {.kind = RECORD_REPLAY, .time = 260 * US, .group = 9},
                               {.kind = RECORD_REPLAY, .time = 270 * US, .group = 9},
                               {.kind = RECORD_REPLAY, .time = 301 * US, .group = 10}};
    static const int64_t ends[] = {60, 160, 202, 302};
    struct batches b;
    for (size_t i = 0; i < 4; i++)
        records[i].group = (uint32_t)(7 + i);
    rebuild(&b, records, sizeof records / sizeof *records);
    ck_assert_uint_eq(b.count, 4);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(b.items[i].end_ns, ends[i] * US);
    batches_release(&b);
}
END_TEST

START_TEST(fault_records_correct_a_wrong_cut)
{
    /* By time and address one batch; the records say two. */
    const struct record records[] = {at(20, 40, 1, 9), at(42, 60, 3, 9), fault(0, 41, 1), fault(41, 80, 3)};
    struct batches b;
    rebuild(&b, records, 4);
    expect(&b, 2, (const size_t[]){1, 1});
    ck_assert_uint_eq(b.rebuilt, 1);
    ck_assert_uint_eq(b.confirmed, 0);
    batches_release(&b);
}
END_TEST

START_TEST(overlapping_fault_records_are_told_apart_by_the_ascending_order)
{
    /* Two records overlap in 90..120; the service at 100 ascends, so it still belongs to the first. */
    const struct record records[] = {fault(0, 120, 1),   fault(90, 200, 1),  at(20, 40, 1, 9),  at(60, 80, 4, 9),
                                     at(100, 110, 7, 9), at(112, 118, 1, 9), at(130, 150, 2, 9)};
    struct batches b;
    rebuild(&b, records, 7);
    expect(&b, 2, (const size_t[]){3, 2});
    batches_release(&b);
}
END_TEST

START_TEST(copies_that_lag_behind_the_driver_stay_with_their_record)
{
    const struct record records[] = {fault(0, 50, 1),  at(20, 40, 1, 9),   at(45, 60, 3, 9),
                                     at(62, 80, 4, 9), fault(200, 300, 1), at(220, 240, 1, 9)};
    struct batches b;
    rebuild(&b, records, 6);
    expect(&b, 2, (const size_t[]){3, 1});
    batches_release(&b);
}
END_TEST

START_TEST(services_outside_every_fault_record_are_kept)
{
    const struct record records[] = {at(10, 20, 1, 9), fault(100, 200, 2), at(120, 140, 2, 9), at(1300, 1310, 5, 9),
                                     at(1312, 1320, 6, 9)};
    struct batches b;
    rebuild(&b, records, 5);
    expect(&b, 3, (const size_t[]){1, 1, 2});
    ck_assert_int_eq(b.items[0].rule, BATCH_NO_RECORD);
    ck_assert_int_eq(b.items[2].rule, BATCH_NO_RECORD);
    batches_release(&b);
}
END_TEST

struct rows {
    int64_t n, services, faults;
};

static int count_batch(void *ctx, const struct store_value *v, size_t n)
{
    struct rows *rows = ctx;
    ck_assert_uint_eq(n, 9);
    ck_assert_int_eq(v[0].i, rows->n);
    ck_assert_int_eq(v[1].i, rows->services);
    rows->n++;
    rows->services += v[2].i;
    rows->faults += v[5].i;
    return 0;
}

START_TEST(the_tables_of_a_trace_hold_every_service_once)
{
    const struct record records[] = {at(0, 10, 1, 9), at(12, 20, 2, 9), at(100, 110, 1, 7)};
    struct stream stream = {.name = "uvm", .unit = TIME_NS};
    struct store *store = GIVES(store_create(testing_file("b.db"), true, "test", &err));
    int index;
    size_t batches, services;
    WORKS(store_stream_add(store, &stream, &index, &err));
    WORKS(store_append(store, index, records, NULL, 3, &err));
    WORKS(batches_write(store, &batches, &services, &err));
    ck_assert_uint_eq(batches, 2);
    ck_assert_uint_eq(services, 3);
    WORKS(store_finish(store, &err));
    store_close(store);
    store = GIVES(store_open(testing_file("b.db"), &err));
    struct rows rows = {0};
    WORKS(store_rows(store, "batches", count_batch, &rows, &err));
    ck_assert_int_eq(rows.n, 2);
    ck_assert_int_eq(rows.services, 3);
    ck_assert_int_eq(rows.faults, 25);
    store_close(store);
}
END_TEST

static const uint64_t block = 0x7f0000000000;

static struct record moved(int64_t start, int64_t end, uint64_t page, uint64_t pages, uint32_t cause)
{
    return (struct record){.kind = RECORD_MIGRATE_H2D,
                           .time = start,
                           .duration = end - start,
                           .addr = block + page * 4096,
                           .bytes = pages * 4096,
                           .flags = cause};
}

START_TEST(a_service_ends_at_a_gap_a_new_block_or_a_lower_address)
{
    /* Out of order on purpose. */
    const struct record records[] = {
        moved(400, 410, 512, 1, RECORD_CAUSE_FAULT), /* next block, contiguous in time: a third service */
        moved(100, 110, 0, 4, RECORD_CAUSE_FAULT),   /* first service */
        moved(110, 130, 4, 12, RECORD_CAUSE_PREFETCH),
        moved(130, 140, 20, 1, RECORD_CAUSE_FAULT),  /* a gap in address stays in it */
        moved(150, 400, 100, 2, RECORD_CAUSE_FAULT), /* a gap in time: second */
        moved(410, 420, 511 + 512, 1, RECORD_CAUSE_PREFETCH),
        moved(420, 430, 513, 1, RECORD_CAUSE_FAULT), /* a lower address: fourth */
        moved(430, 440, 600, 1, RECORD_CAUSE_USER),  /* not the fault path */
    };
    struct services s;
    services_init(&s, RECORD_MIGRATE_H2D);
    WORKS(services_add(&s, records, 3, &err));
    WORKS(services_add(&s, records + 3, 5, &err));
    WORKS(services_rebuild(&s, &err));
    ck_assert_uint_eq(s.count, 4);
    static const struct {
        int64_t start, end;
        uint32_t records, faults, prefetched;
    } want[] = {{100, 140, 3, 5, 12}, {150, 400, 1, 2, 0}, {400, 420, 2, 1, 1}, {420, 430, 1, 1, 0}};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(s.items[i].start_ns, want[i].start);
        ck_assert_int_eq(s.items[i].end_ns, want[i].end);
        ck_assert_uint_eq(s.items[i].records, want[i].records);
        ck_assert_uint_eq(s.items[i].fault_pages, want[i].faults);
        ck_assert_uint_eq(s.items[i].prefetch_pages, want[i].prefetched);
    }
    ck_assert_uint_eq(s.items[2].block_addr, block + 512 * 4096);
    services_release(&s);
}
END_TEST

START_TEST(the_other_direction_and_impossible_records_are_passed_over)
{
    struct record records[] = {moved(1, 2, 0, 1, RECORD_CAUSE_FAULT), moved(1, 2, 0, 0, RECORD_CAUSE_FAULT),
                               moved(1, 2, 0, 1, RECORD_CAUSE_FAULT)};
    records[0].kind = RECORD_MIGRATE_D2H;
    records[2].addr = UINT64_MAX - 10;
    struct services s;
    services_init(&s, RECORD_MIGRATE_H2D);
    WORKS(services_add(&s, records, 3, &err));
    WORKS(services_rebuild(&s, &err));
    ck_assert_uint_eq(s.count, 0);
    services_release(&s);
}
END_TEST

/* --- the rules, each at its edge and behind it --- */

/* m1:0-10x9: a service of 9 pages in block 1, from 0 to 10 us; f1+8:0-10: a fault record that names page 8 of it.
 * What comes of it: services, rule and confidence of each batch. */
static const struct {
    const char *rule, *at, *comes, *behind, *then;
} rules[] = {
    {"a record at the address of the one before begins a service", "m1:0-10x9 m1+1:10-20x9", "1@0/0.9",
     "m1:0-10x9 m1:10-20x9", "1@0/0.9 1@1/0.9"},
    {"a block that ascends goes on", "m1:0-10x9 m2:12-20x9", "2@0/0.9", "m1:0-10x9 m1+9:12-20x9", "1@0/0.9 1@1/0.9"},
    {"up to 256 pages are a batch, across a gap too",
     "m1:0-1x32 m2:2-3x32 m3:4-5x32 m4:6-7x32 m5:8-9x32 m6:10-11x32 m7:12-13x32 m8:99-100x32", "8@0/0.5",
     "m1:0-1x32 m2:2-3x32 m3:4-5x32 m4:6-7x32 m5:8-9x32 m6:10-11x32 m7:12-13x32 m8:99-100x33", "7@0/0.7 1@3/0.7"},
    {"behind a full one they are counted anew; an unsplit gap stays one",
     "m1:0-1x80 m2:2-3x80 m3:4-5x80 m4:99-100x40 m5:102-103x40 m6:104-105x40 m7:106-107x40 m8:200-201x90",
     "3@0/0.7 5@3/0.5",
     "m1:0-1x80 m2:2-3x40 m3:4-5x40 m4:99-100x20 m5:102-103x20 m6:104-105x20 m7:106-107x20 m8:200-201x90",
     "7@0/0.5 1@3/0.7"},
    {"8 services are no short run", "m1:0-1x9 m2:2-3x9 m3:4-5x9 m4:6-7x9 m5:8-9x9 m6:10-11x9 m7:99-100x9",
     "6@0/0.7 1@4/0.7", "m1:0-1x9 m2:2-3x9 m3:4-5x9 m4:6-7x9 m5:8-9x9 m6:10-11x9 m7:12-13x9 m8:99-100x9", "8@0/0.5"},
    {"five median gaps are none that outlies", "m1:0-10x9 m2:30-40x9 m3:60-70x9 m4:170-180x9", "4@0/0.5",
     "m1:0-10x9 m2:30-40x9 m3:60-70x9 m4:170.005-180x9", "3@0/0.7 1@4/0.7"},
    {"a service may begin when its record ends", "f1:0-50 m1:50-60x9", "1@5/0.99", "f1:0-50 m1:50.001-60x9",
     "0@5/0.99 1@6/0.5"},
    {"or when it begins", "f1:10-50 m1:10-20x9", "1@5/0.99", "f1:10.001-50 m1:10-20x9", "1@6/0.5 0@5/0.99"},
    {"the first record goes before, unless only another names a page of the service", "f1+8:0-99 f1+7:1-99 m1:10-20x9",
     "1@5/0.99 0@5/0.99", "f1+9:0-99 f1+8:1-99 m1:10-20x9", "0@5/0.99 1@5/0.99"},
    {"in order the record goes on, unless only the next names a page, of another block",
     "f1:0-99 f4:5-99 m1:10-20x9 m3:22-30x9", "2@5/0.99 0@5/0.99", "f1:0-99 f3:5-99 m1:10-20x9 m3:22-30x9",
     "1@5/0.99 1@5/0.99"},
    {"a block that its own record names is that record's", "f3:0-99 f3+1:5-99 m1:10-20x9 m3:22-30x9",
     "2@5/0.99 0@5/0.99", "f3:0-99 f3+1:5-99 m3:10-20x9 m1:22-30x9", "1@5/0.99 1@5/0.99"},
    {"copies lag behind a record for a millisecond", "f1:0-50 m1:20-1010x9 m2:1050-1060x9", "2@5/0.99",
     "f1:0-50 m1:20-1010x9 m2:1050.001-1060x9", "1@5/0.99 1@6/0.5"},
    {"what lies between two services of a record is its own", "f1:0-50 m1:20-40x9 m5:100-110x9 m6:112-120x9",
     "3@5/0.99", "f1:0-50 m1:20-40x9 m5:100-110x9 m4:112-120x9", "1@5/0.99 1@6/0.5 1@6/0.5"},
    {"outside of records blocks ascend in a batch too", "f9:0-10 m4:100-110x9 m5:112-120x9", "0@5/0.99 2@6/0.5",
     "f9:0-10 m5:100-110x9 m4:112-120x9", "0@5/0.99 1@6/0.5 1@6/0.5"},
};

static struct record read_record(const char *text)
{
    char *at;
    struct record r = {.kind = text[0] == 'f' ? RECORD_FAULT : RECORD_MIGRATE_H2D, .bytes = 1};
    r.addr = base + strtoul(text + 1, &at, 10) * SERVICES_BLOCK_BYTES;
    if (*at == '+')
        r.addr += strtoul(at + 1, &at, 10) * SERVICES_PAGE_BYTES;
    r.time = llround(strtod(at + 1, &at) * US);
    r.duration = llround(strtod(at + 1, &at) * US) - r.time;
    r.flags = text[0] == 'f' ? RECORD_READ : RECORD_CAUSE_FAULT;
    if (*at == 'x')
        r.bytes = strtoul(at + 1, NULL, 10) * SERVICES_PAGE_BYTES;
    return r;
}

/* What comes of n records, in the words of the table. */
static const char *batches_of(const struct record *records, size_t n)
{
    static char text[400];
    struct batches b;
    size_t used = 0;
    rebuild(&b, records, n);
    for (size_t i = 0; i < b.count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu@%d/%g", i ? " " : "", b.items[i].count,
                                 b.items[i].rule, b.items[i].confidence);
    batches_release(&b);
    return text;
}

START_TEST(each_rule_holds_up_to_its_edge_and_no_further)
{
    for (size_t i = 0; i < 2 * sizeof rules / sizeof *rules; i++) {
        struct record records[12];
        size_t n = 0;
        for (const char *text = i % 2 ? rules[i / 2].behind : rules[i / 2].at; *text; text += strspn(text, " ")) {
            records[n++] = read_record(text);
            text += strcspn(text, " ");
        }
        ck_assert_msg(strcmp(batches_of(records, n), i % 2 ? rules[i / 2].then : rules[i / 2].comes) == 0, "%s: %s: %s",
                      rules[i / 2].rule, i % 2 ? rules[i / 2].behind : rules[i / 2].at, batches_of(records, n));
    }
}
END_TEST

/* A long record and so many short ones behind it that are over when the service begins. */
START_TEST(of_the_records_before_a_service_the_last_64_are_looked_at)
{
    for (size_t others = 63; others <= 64; others++) {
        struct record records[67] = {fault(0, 1, 7), fault(1, 1000, 1), at(500, 510, 1, 9)};
        for (size_t i = 0; i < others; i++)
            records[3 + i] = fault(2 + (int64_t)i, 3 + (int64_t)i, 7);
        struct batches b;
        rebuild(&b, records, 3 + others);
        ck_assert_msg(b.items[1].count == (others == 63), "%zu others", others);
        batches_release(&b);
    }
}
END_TEST

/* Numbers of batches and services go on from one recording to the next. */
START_TEST(the_tables_of_two_processes_are_one_count)
{
    const struct record records[] = {at(0, 10, 1, 9), at(12, 20, 2, 9), at(100, 110, 1, 7), at(112, 120, 1, 5)};
    const int64_t extra[12] = {7, 7, 8, 8};
    struct stream stream = {.name = "uvm", .unit = TIME_NS, .extra = {"process_id", "src_id", "dst_id"}};
    struct store *store = GIVES(store_create(testing_file("two.db"), true, "test", &err));
    int index;
    WORKS(store_stream_add(store, &stream, &index, &err));
    WORKS(store_append(store, index, records, extra, 4, &err));
    WORKS(batches_write(store, NULL, NULL, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    store = GIVES(store_open(testing_file("two.db"), &err));
    struct rows rows = {0};
    WORKS(store_rows(store, "batches", count_batch, &rows, &err));
    ck_assert(rows.n == 3 && rows.services == 4 && rows.faults == 30);
    store_close(store);
}
END_TEST

/* Pages that a record touches, whole or in part; one that would reach past the end of all addresses is none. */
START_TEST(pages_are_counted_to_the_last_byte)
{
    struct record records[] = {moved(0, 10, 0, 1, RECORD_CAUSE_FAULT), moved(10, 20, 4, 1, RECORD_CAUSE_FAULT),
                               moved(30, 40, 0, 1, RECORD_CAUSE_FAULT)};
    records[1].bytes++;
    records[2].addr = UINT64_MAX - 4095;
    struct services s;
    services_init(&s, RECORD_MIGRATE_H2D);
    WORKS(services_add(&s, records, 3, &err));
    WORKS(services_rebuild(&s, &err));
    ck_assert_uint_eq(s.count, 1);
    ck_assert_uint_eq(s.items[0].fault_pages, 3);
    services_release(&s);
    records[0].bytes = records[1].bytes = INT64_MAX; /* of one service: more pages than are counted */
    WORKS(services_add(&s, records, 2, &err));
    WORKS(services_rebuild(&s, &err));
    ck_assert_uint_eq(s.items[0].fault_pages, UINT32_MAX);
    ck_assert_uint_eq(s.items[0].fault_bytes, 2 * (uint64_t)INT64_MAX);
    services_release(&s);
}
END_TEST

TEST_MAIN("batches")
