#include "replay/verify/verify_block.h"

#include "trace/base/testing.h"

/* Events and migrations of one stretch at address 0. */
struct script {
    struct services h2d, d2h;
    bool renewed;
    struct verify_event events[64];
    size_t count;
};

static void begin(struct script *s)
{
    memset(s, 0, sizeof *s);
    services_init(&s->h2d, RECORD_MIGRATE_H2D);
    services_init(&s->d2h, RECORD_MIGRATE_D2H);
}

/* An event on pages from `first` on. */
static struct verify_event *happens(struct script *s, enum verify_event_type type, unsigned first, unsigned pages)
{
    struct verify_event *e = &s->events[s->count];
    *e = (struct verify_event){.time_ns = (int64_t)s->count,
                               .order = s->count,
                               .first = (uint16_t)first,
                               .pages = (uint16_t)pages,
                               .type = (uint16_t)type};
    s->count++;
    return e;
}

static void cpu_write(struct script *s, unsigned page)
{
    (void)happens(s, VERIFY_CPU_WRITE, page, 1);
}

/* A service: pages [from, to) faulted if the text at that place is F, prefetched if P; one letter per `step` pages. */
static void service(struct script *s, const char *letters, unsigned first, unsigned step)
{
    int64_t time = 1000000 * (int64_t)(s->count + 1);
    uint32_t index = (uint32_t)s->h2d.count;
    for (size_t i = 0; letters[i]; i++) {
        if (letters[i] == '.')
            continue;
        struct record r = {.kind = RECORD_MIGRATE_H2D,
                           .time = time,
                           .duration = 10,
                           .addr = ((uint64_t)first + i * step) * 4096,
                           .bytes = (uint64_t)step * 4096,
                           .flags = letters[i] == 'F' ? RECORD_CAUSE_FAULT : RECORD_CAUSE_PREFETCH};
        WORKS(services_add(&s->h2d, &r, 1, &err));
        time += 10;
    }
    WORKS(services_rebuild(&s->h2d, &err));
    ck_assert_uint_eq(s->h2d.count, index + 1);
    happens(s, VERIFY_H2D, 0, 0)->service = index;
}

static struct verify_block block_of(const struct script *s)
{
    return (struct verify_block){
        .events = s->events, .count = s->count, .h2d = &s->h2d, .d2h = &s->d2h, .threshold = 51, .renewed = s->renewed};
}

static struct verify_counts play(const struct script *s, const struct verify_edges *edges)
{
    static const struct verify_edges none;
    const struct verify_block block = block_of(s);
    struct verify_counts counts;
    verify_block_play(&block, edges ? edges : &none, &counts);
    return counts;
}

/* Played, and over. */
static struct verify_counts end(struct script *s)
{
    struct verify_counts c = play(s, NULL);
    services_release(&s->h2d);
    services_release(&s->d2h);
    return c;
}

/* Sequential first touch by the CPU: 64, 64, 128, 256, 512 KiB and 1 MiB. */
static void write_all(struct script *s)
{
    static const unsigned pages[] = {0, 16, 32, 64, 128, 256};
    for (size_t i = 0; i < 6; i++)
        cpu_write(s, pages[i]);
}

START_TEST(six_cpu_faults_populate_a_block)
{
    struct script s;
    begin(&s);
    write_all(&s);
    struct verify_counts c = play(&s, NULL);
    ck_assert_uint_eq(c.cpu_faults, 6);
    ck_assert_uint_eq(c.cpu_pages, 512);
    ck_assert_uint_eq(c.unmoved_pages, 512);
    /* Five populate the lower half. */
    s.count = 5;
    ck_assert_uint_eq(play(&s, NULL).cpu_pages, 256);
}
END_TEST

START_TEST(services_that_follow_the_tree_are_exact)
{
    struct script s;
    begin(&s);
    write_all(&s);
    /* Letters are 64 KiB: faults in the first region alone, then in a fifth, sixth, ... of the upper ones. */
    service(&s, "F", 0, 16);
    service(&s, ".F", 0, 16);
    service(&s, "..FP", 0, 16);
    service(&s, "....FPPP", 0, 16);
    service(&s, "........FPPPPPPP", 0, 16);
    service(&s, "................FPPPPPPPPPPPPPPP", 0, 16);
    struct verify_counts c = end(&s);
    ck_assert_uint_eq(c.services, 6);
    ck_assert_uint_eq(c.exact, 6);
    ck_assert_uint_eq(c.unmoved_pages, 0);
    for (int k = 0; k < VERIFY_VIOLATIONS; k++)
        ck_assert_uint_eq(c.violations[k], 0);
}
END_TEST

START_TEST(counts_of_several_blocks_are_added)
{
    struct verify_counts one = {.services = 1,
                                .exact = 2,
                                .predicted_pages = 3,
                                .prefetched_pages = 4,
                                .agreed_pages = 5,
                                .d2h_services = 6,
                                .d2h_exact = 7,
                                .cpu_faults = 8,
                                .cpu_writes_answered = 9,
                                .cpu_pages = 10,
                                .moved_pages = 11,
                                .unmoved_pages = 12,
                                .violations = {[VERIFY_NAMED] = 13},
                                .place = {[VERIFY_NAMED] = {.time_ns = 100}}};
    struct verify_counts sum = one, later = one, earlier = one;
    later.place[VERIFY_NAMED].time_ns = 200;
    earlier.place[VERIFY_NAMED].time_ns = 50;
    verify_counts_add(&sum, &later);
    ck_assert_int_eq(sum.place[VERIFY_NAMED].time_ns, 100);
    verify_counts_add(&sum, &earlier);
    ck_assert_int_eq(sum.place[VERIFY_NAMED].time_ns, 50);
    ck_assert_uint_eq(sum.services, 3);
    ck_assert_uint_eq(sum.exact, 6);
    ck_assert_uint_eq(sum.predicted_pages, 9);
    ck_assert_uint_eq(sum.prefetched_pages, 12);
    ck_assert_uint_eq(sum.agreed_pages, 15);
    ck_assert_uint_eq(sum.d2h_services, 18);
    ck_assert_uint_eq(sum.d2h_exact, 21);
    ck_assert_uint_eq(sum.cpu_faults, 24);
    ck_assert_uint_eq(sum.cpu_writes_answered, 27);
    ck_assert_uint_eq(sum.cpu_pages, 30);
    ck_assert_uint_eq(sum.moved_pages, 33);
    ck_assert_uint_eq(sum.unmoved_pages, 36);
    ck_assert_uint_eq(sum.violations[VERIFY_NAMED], 39);
}
END_TEST

START_TEST(a_missing_service_makes_the_next_one_wrong)
{
    struct script s;
    begin(&s);
    write_all(&s);
    service(&s, "F", 0, 16);
    service(&s, "..FP", 0, 16); /* the one in between is gone */
    struct verify_counts c = end(&s);
    ck_assert_uint_eq(c.exact, 1);
    ck_assert_uint_eq(c.violations[VERIFY_MISMATCH], 1);
    ck_assert_uint_eq(c.place[VERIFY_MISMATCH].missing, 16);
    ck_assert_uint_eq(c.place[VERIFY_MISMATCH].surplus, 0);
}
END_TEST

START_TEST(without_known_population_a_mismatch_proves_nothing)
{
    struct script s;
    begin(&s);
    service(&s, "F", 0, 16);
    service(&s, "..FP", 0, 16);
    struct verify_counts c = end(&s);
    ck_assert_uint_eq(c.violations[VERIFY_MISMATCH], 0);
    ck_assert_uint_eq(c.violations[VERIFY_MISMATCH_OPEN], 1);
}
END_TEST

START_TEST(an_edge_clips_the_tree_and_is_found)
{
    /* 420 pages: the last fault brings pages 256 to 419. */
    struct script s;
    begin(&s);
    write_all(&s);
    service(&s, "FFFFFFFFFPPPPPPP", 0, 16);
    service(&s, "F..........", 256, 4);
    struct record rest = {.kind = RECORD_MIGRATE_H2D,
                          .time = s.h2d.migrations[s.h2d.migration_count - 1].end_ns,
                          .duration = 10,
                          .addr = 260 * 4096,
                          .bytes = 160 * 4096,
                          .flags = RECORD_CAUSE_PREFETCH};
    WORKS(services_add(&s.h2d, &rest, 1, &err));
    WORKS(services_rebuild(&s.h2d, &err));
    ck_assert_uint_eq(s.h2d.count, 2);
    struct verify_counts counts = play(&s, NULL);
    ck_assert_uint_eq(counts.exact, 1);
    struct verify_block block = block_of(&s);
    struct verify_edges edges;
    long budget = 100;
    ck_assert(verify_block_infer(&block, &edges, &counts, &budget));
    ck_assert_uint_eq(edges.count, 1);
    ck_assert_uint_eq(edges.page[0], 420);
    ck_assert_uint_eq(counts.exact, 2);
    budget = 0;
    counts = play(&s, NULL);
    ck_assert(!verify_block_infer(&block, &edges, &counts, &budget));
    services_release(&s.h2d);
}
END_TEST

START_TEST(prefetching_off_predicts_nothing)
{
    struct script s;
    begin(&s);
    service(&s, "F", 0, 1);
    static const struct verify_edges none;
    struct verify_block block = block_of(&s);
    block.threshold = 101;
    struct verify_counts c;
    verify_block_play(&block, &none, &c);
    ck_assert_uint_eq(c.predicted_pages, 0);
    ck_assert_uint_eq(c.exact, 1);
    services_release(&s.h2d);
}
END_TEST

/* Pages from `first` on move back for a CPU fault. */
static void back(struct script *s, unsigned first, unsigned pages)
{
    struct record r = {.kind = RECORD_MIGRATE_D2H,
                       .time = 1000000 * (int64_t)(s->count + 1),
                       .duration = 10,
                       .addr = first * 4096ull,
                       .bytes = pages * 4096ull,
                       .flags = RECORD_CAUSE_FAULT};
    WORKS(services_add(&s->d2h, &r, 1, &err));
    WORKS(services_rebuild(&s->d2h, &err));
    happens(s, VERIFY_D2H, 0, 0)->service = (uint32_t)s->d2h.count - 1;
}

/* A page that nothing is known of was on the GPU if a record moves it back within eight events, and none moves to the
 * GPU or allocates in between. */
START_TEST(a_move_right_behind_a_cpu_fault_tells_where_the_page_was)
{
    static const enum verify_event_type between[] = {VERIFY_CPU_WRITE, VERIFY_H2D_OTHER, VERIFY_ALLOC};
    for (int n = 7; n <= 8; n++)
        for (int what = 0; what < 3; what++) {
            struct script s;
            begin(&s);
            cpu_write(&s, 300);
            for (int i = 0; i < n; i++)
                happens(&s, i ? VERIFY_CPU_WRITE : between[what], 0, 1);
            back(&s, 300, 1);
            struct verify_counts c = end(&s);
            bool known = n == 7 && what == 0;
            ck_assert_msg(c.cpu_writes_answered == known && (c.violations[VERIFY_RETURNED] > 0) != known,
                          "%d events between, of type %d: %d answered", n, (int)between[what],
                          (int)c.cpu_writes_answered);
        }
}
END_TEST

/* A page that waits to go back and comes again: the fault was lost, nothing moved twice. */
START_TEST(a_fault_that_waits_is_lost_when_its_page_moves_to_the_gpu_again)
{
    for (int waits = 0; waits < 2; waits++) {
        struct script s;
        begin(&s);
        cpu_write(&s, 0);
        service(&s, "F", 0, 1);
        if (waits)
            cpu_write(&s, 0);
        service(&s, "F", 0, 1);
        struct verify_counts c = end(&s);
        ck_assert_uint_eq(c.violations[VERIFY_TWICE], !waits);
        ck_assert_uint_eq(c.violations[VERIFY_CPU_WRITE_LOST], waits);
    }
}
END_TEST

/* Memory freed and allocated again: a write to a page on the GPU finds it new, a read does not. */
START_TEST(renewed_memory_is_found_by_a_write)
{
    for (int read = 0; read < 2; read++) {
        struct script s;
        begin(&s);
        s.renewed = true;
        cpu_write(&s, 0);
        service(&s, "F", 0, 1);
        happens(&s, read ? VERIFY_CPU_READ : VERIFY_CPU_WRITE, 0, 1);
        struct verify_counts c = end(&s);
        ck_assert_uint_eq(c.violations[VERIFY_CPU_READ_LOST], read);
        ck_assert_uint_eq(c.violations[VERIFY_CPU_WRITE_LOST], 0);
    }
}
END_TEST

/* The first of the batches that name pages is the place; who faults while the stretch is held back need not move. */
START_TEST(pages_that_a_batch_names_must_move)
{
    for (int held = 0; held < 2; held++) {
        struct script s;
        begin(&s);
        cpu_write(&s, 0);
        if (held)
            happens(&s, VERIFY_HELD_BACK, 0, 1);
        happens(&s, VERIFY_FAULT_RECORD, 2, 1);
        happens(&s, VERIFY_FAULT_RECORD, 1, 1);
        struct verify_counts c = end(&s);
        ck_assert_uint_eq(c.violations[VERIFY_NAMED], held ? 0 : 2);
        ck_assert(held || c.place[VERIFY_NAMED].time_ns == 1);
    }
}
END_TEST

/* What the program sends to the GPU is new there where nobody had it; what the CPU has moves with a record. */
START_TEST(sent_pages_are_zeroed_where_nobody_had_them)
{
    struct script s;
    begin(&s);
    cpu_write(&s, 0); /* pages 0 to 15 */
    happens(&s, VERIFY_SENT_GPU, 0, 32);
    happens(&s, VERIFY_D2H_OTHER, 16, 16);
    ck_assert_uint_eq(play(&s, NULL).violations[VERIFY_RETURNED], 0);
    happens(&s, VERIFY_D2H_OTHER, 0, 16);
    struct verify_counts c = end(&s);
    ck_assert_uint_eq(c.violations[VERIFY_RETURNED], 16);
}
END_TEST

TEST_MAIN("verify_block")
