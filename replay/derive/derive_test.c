#define TESTING_FORK CK_FORK

#include "replay/derive/derive.h"

#include "trace/base/testing.h"
#include "trace/event/tlp.h"
#include "trace/import/reader.h"
#include "trace/import/testing_accelsim.h"
#include "trace/import/testing_access.h"

static struct derive_options all = {.last = UINT64_MAX, .l2_bytes = 6 << 20, .l2_ways = 24};
static struct program_counts counts;

typedef void (*builder)(FILE *f, int version);

static void vector_add(FILE *f, int version)
{
    build_vector_add(f, version, 65536);
}

static void strided(FILE *f, int version)
{
    build_strided(f, version, 65536);
}

/* 1,024 columns and 34 rows: 32 rows of 32 warps. */
static void stencil(FILE *f, int version)
{
    build_stencil(f, version, 1024, 34);
}

typedef int (*derivation)(const struct derive_source *source, struct store *out, const struct derive_options *options,
                          struct program_counts *c, struct err *err);

/* The kernel's accesses, derived; opened for reading. NULL if that fails, *err says why. */
static struct store *derived(builder build, derivation derive, const struct derive_options *options, struct err *err)
{
    const char *trace = testing_file("kernel-1.traceg"), *path = testing_file("derived.db");
    FILE *f = fopen(trace, "w");
    build(f, 5);
    (void)fclose(f);
    struct store *in = testing_import(&read_accelsim, trace, true);
    struct store *out = store_create(path, true, "test", err);
    const struct derive_source source = {.store = in, .name = trace};
    int rc = derive(&source, out, options, &counts, err);
    if (rc == 0)
        ck_assert_int_eq(store_finish(out, err), 0);
    store_close(out);
    store_close(in);
    return rc ? NULL : store_open(path, err);
}

struct sum {
    uint64_t count[RECORD_KINDS], bytes[RECORD_KINDS], sizes[5]; /* sizes: records of 32 n bytes */
};

static struct sum sum_of(struct store *store, void (*look)(const struct record *r, uint64_t at))
{
    struct sum s = {0};
    struct store_cursor *cursor = store_cursor_open(store, 0, NULL);
    const struct record *r;
    size_t n;
    uint64_t at = 0;
    while (store_cursor_next(cursor, &r, NULL, &n, NULL) == 1)
        for (size_t i = 0; i < n; i++) {
            s.count[r[i].kind]++;
            s.bytes[r[i].kind] += r[i].bytes;
            if (r[i].kind != RECORD_KERNEL && r[i].kind != RECORD_ALLOC && r[i].bytes % 32 == 0 && r[i].bytes <= 128)
                s.sizes[r[i].bytes / 32]++;
            if (look)
                look(&r[i], at++);
        }
    store_cursor_close(cursor);
    return s;
}

static uint64_t pages_seen[65536 / 64 * 4];
static uint64_t distinct;

static void note_page(const struct record *r, uint64_t at)
{
    (void)at;
    if (r->kind != RECORD_TOUCH)
        return;
    uint64_t page = (r->addr - BUILD_A) / 4096;
    ck_assert_uint_eq(r->addr % 4096, 0);
    ck_assert_uint_lt(page, 4096);
    distinct += !(pages_seen[page / 64] >> page % 64 & 1);
    pages_seen[page / 64] |= 1ull << page % 64;
}

START_TEST(vector_add_touches_192_pages_once_per_access)
{
    struct store *s = GIVES(derived(vector_add, derive_touches, &all, &err));
    struct sum sum = sum_of(s, note_page);
    ck_assert_uint_eq(counts.instructions, 6144);
    ck_assert_uint_eq(counts.lines, 6144);
    ck_assert_uint_eq(counts.sectors, 4 * 6144);
    ck_assert_uint_eq(sum.count[RECORD_TOUCH], 6144);
    ck_assert_uint_eq(distinct, 3 * 65536 * 4 / 4096);
    ck_assert_uint_eq(sum.count[RECORD_ALLOC], 1);
    ck_assert_uint_eq(sum.bytes[RECORD_ALLOC], 3 * 65536 * 4);
    ck_assert_uint_eq(sum.count[RECORD_KERNEL], 1);
    ck_assert_uint_eq(sum.count[RECORD_KERNEL_END], 1);
    store_close(s);
}
END_TEST

START_TEST(a_strided_warp_touches_its_one_page_32_times)
{
    struct store *s = GIVES(derived(strided, derive_touches, &all, &err));
    struct sum sum = sum_of(s, note_page);
    ck_assert_uint_eq(counts.instructions, 2048);
    ck_assert_uint_eq(counts.lines, 2048 * 32);
    ck_assert_uint_eq(sum.count[RECORD_TOUCH], 2048);
    ck_assert_uint_eq(distinct, 64);
    store_close(s);
}
END_TEST

START_TEST(requests_of_the_three_kernels)
{
    struct err err = {""};
    struct store *s = derived(vector_add, derive_requests, &all, &err);
    struct sum sum = sum_of(s, NULL);
    ck_assert_uint_eq(sum.count[RECORD_TLP], 6144);
    ck_assert_uint_eq(sum.sizes[4], 6144);
    store_close(s);

    s = derived(strided, derive_requests, &all, &err);
    sum = sum_of(s, NULL);
    ck_assert_uint_eq(sum.sizes[1], 65536);
    ck_assert_uint_eq(sum.count[RECORD_TLP], 65536);
    store_close(s);

    /* A warp of the stencil: above, middle, below and the result 128 B each; left 32 B (last sector of the line before)
     * and 128 B; right 128 B and 32 B (first sector of the line behind). */
    s = derived(stencil, derive_requests, &all, &err);
    sum = sum_of(s, NULL);
    ck_assert_uint_eq(counts.instructions, 6 * 1024);
    ck_assert_uint_eq(counts.lines, 8 * 1024);
    ck_assert_uint_eq(sum.sizes[4], 6 * 1024);
    ck_assert_uint_eq(sum.sizes[1], 2 * 1024);
    store_close(s);
}
END_TEST

/* c is written after both operands were read; the k-th write-back of the flush is line k of c. */
static void check_vector_add(const struct record *r, uint64_t at)
{
    if (r->kind == RECORD_DRAM_READ)
        ck_assert_uint_eq(r->addr, ((at - 1) % 2 ? BUILD_B : BUILD_A) + 128 * ((at - 1) / 2));
    if (r->kind == RECORD_DRAM_WRITEBACK)
        ck_assert(r->addr >= BUILD_C && r->addr < BUILD_C + 65536 * 4 && r->addr % 128 == 0);
}

START_TEST(through_an_l2_that_holds_it_all_each_line_is_fetched_and_written_once)
{
    struct err err = {""};
    struct store *s = derived(vector_add, derive_dram, &all, &err);
    struct sum sum = sum_of(s, check_vector_add);
    ck_assert_uint_eq(sum.count[RECORD_DRAM_READ], 4096);
    ck_assert_uint_eq(sum.count[RECORD_DRAM_WRITEBACK], 2048);
    ck_assert_uint_eq(sum.sizes[4], 6144);
    store_close(s);

    /* The first load of each strided warp fetches a sector of 32 lines, the loads 8, 16 and 24 the next one. */
    s = derived(strided, derive_dram, &all, &err);
    sum = sum_of(s, NULL);
    ck_assert_uint_eq(sum.count[RECORD_DRAM_READ], 8192);
    ck_assert_uint_eq(sum.sizes[1], 8192);
    store_close(s);

    /* The stencil reads 34 rows of 32 lines (the neighbours of a row's ends lie in the rows beside it) and writes 32.
     * Every sector is fetched once. */
    s = derived(stencil, derive_dram, &all, &err);
    sum = sum_of(s, NULL);
    ck_assert_uint_eq(sum.bytes[RECORD_DRAM_READ], 34 * 4096);
    ck_assert_uint_eq(sum.bytes[RECORD_DRAM_WRITEBACK], 32 * 4096);
    store_close(s);
}
END_TEST

/* The DRAM reads that are to come, in order, worked out from the loops; the stores follow from the counts above. */
static struct expected {
    uint64_t addr, bytes;
} expected[16384];
static uint64_t expected_count, expected_at;
static uint8_t fetched[2 << 20]; /* by sector from BUILD_A on */

/* Sectors first..last of one line: what is not there yet is fetched, in runs. */
static void expect(uint64_t first, uint64_t last)
{
    for (uint64_t s = first; s <= last; s++) {
        if (fetched[s])
            continue;
        fetched[s] = 1;
        struct expected *e = expected_count ? &expected[expected_count - 1] : NULL;
        if (s > first && e && e->addr + e->bytes == BUILD_A + 32 * s)
            e->bytes += 32;
        else
            expected[expected_count++] = (struct expected){BUILD_A + 32 * s, 32};
    }
}

static void check_expected(const struct record *r, uint64_t at)
{
    (void)at;
    if (r->kind != RECORD_DRAM_READ)
        return;
    ck_assert_uint_lt(expected_at, expected_count);
    ck_assert_uint_eq(r->addr, expected[expected_at].addr);
    ck_assert_uint_eq(r->bytes, expected[expected_at].bytes);
    expected_at++;
}

static void expect_none(void)
{
    expected_count = expected_at = 0;
    memset(fetched, 0, sizeof fetched);
}

START_TEST(the_dram_stream_of_strided_and_stencil_is_what_the_loops_say)
{
    struct err err = {""};
    expect_none();
    for (uint64_t warp = 0; warp < 65536 / 32 / 32; warp++)
        for (uint64_t i = 0; i < 32; i++) /* one word of each of 32 lines */
            for (uint64_t lane = 0; lane < 32; lane++)
                expect((warp * 32 + lane) * 4 + i / 8, (warp * 32 + lane) * 4 + i / 8);
    struct store *s = derived(strided, derive_dram, &all, &err);
    sum_of(s, check_expected);
    ck_assert_uint_eq(expected_at, 8192);
    ck_assert_uint_eq(expected_count, 8192);
    store_close(s);

    expect_none();
    for (uint64_t row = 1; row < 33; row++)
        for (uint64_t column = 0; column < 32; column++) { /* lines of 128 B, four sectors */
            uint64_t line = 4 * (row * 32 + column);
            expect(line - 128, line - 128 + 3); /* above */
            expect(line - 1, line - 1);         /* left: a lane in the line before */
            expect(line, line + 3);
            expect(line + 4, line + 4);         /* right: a lane in the line behind */
            expect(line + 128, line + 128 + 3); /* below */
        }
    s = derived(stencil, derive_dram, &all, &err);
    sum_of(s, check_expected);
    ck_assert_uint_eq(expected_at, expected_count);
    ck_assert_uint_gt(expected_count, 34 * 32); /* some lines come in two pieces */
    store_close(s);
}
END_TEST

START_TEST(a_small_l2_fetches_strided_sectors_again)
{
    struct err err = {""};
    struct derive_options tiny = all;
    tiny.l2_bytes = 0;
    struct store *s = derived(strided, derive_dram, &tiny, &err);
    ck_assert_uint_eq(sum_of(s, NULL).count[RECORD_DRAM_READ], 65536);
    store_close(s);
    tiny.l2_bytes = 16 * 128; /* sixteen lines for the thirty-two of a load */
    tiny.l2_ways = 16;
    s = derived(strided, derive_dram, &tiny, &err);
    ck_assert_uint_eq(sum_of(s, NULL).count[RECORD_DRAM_READ], 65536);
    store_close(s);
    tiny.l2_bytes = 32 * 128;
    s = derived(strided, derive_dram, &tiny, &err);
    ck_assert_uint_eq(sum_of(s, NULL).count[RECORD_DRAM_READ], 8192);
    store_close(s);
}
END_TEST

/* One kernel of the H200's recording, derived. */
static struct sum h200(const char *kernel, derivation derive)
{
    struct derive_options one = all;
    one.kernel = kernel;
    struct store *in = testing_import(&read_accesses, "fixtures/traces/accesses_h200.txt.xz", true);
    struct store *out = GIVES(store_create(testing_file("h200.db"), true, "test", &err));
    const struct derive_source source = {.store = in, .name = "h200"};
    WORKS(derive(&source, out, &one, &counts, &err));
    WORKS(store_finish(out, &err));
    store_close(out);
    store_close(in);
    out = GIVES(store_open(testing_file("h200.db"), &err));
    struct sum sum = sum_of(out, NULL);
    store_close(out);
    return sum;
}

/* What the loops say. vecadd: 2,048 warps, two loads and a store of a line. strided: 64 warps of 32 loads of 32 lines.
 * conv: 512 x 512, six loads: (i-1, j), (i-1, j-1), (i+1, j), (i, j-1), (i, j+1), (i, j); 510 rows of 16 warps, of
 * which the first and the last lack a lane: the same sectors. A load of column j is a line; of j - 1 a line and, but
 * for the first warp, the last sector of the line before; of j + 1 a line and, but for the last warp, the first sector
 * of the line behind. */
START_TEST(the_recorded_kernels_agree_with_their_loops)
{
    enum { ROWS = 510, WARPS = 16 };
    struct sum s = h200("vecadd", derive_requests);
    ck_assert_uint_eq(counts.instructions, 3 * 2048);
    ck_assert_uint_eq(s.sizes[4], 3 * 2048);
    ck_assert_uint_eq(s.count[RECORD_TLP], 3 * 2048);
    s = h200("strided", derive_requests);
    ck_assert_uint_eq(counts.instructions, 64 * 32);
    ck_assert_uint_eq(s.sizes[1], 64 * 32 * 32);
    ck_assert_uint_eq(s.count[RECORD_TLP], 64 * 32 * 32);
    s = h200("conv", derive_requests);
    ck_assert_uint_eq(counts.instructions, 7 * ROWS * WARPS);
    ck_assert_uint_eq(s.sizes[4], 7 * ROWS * WARPS);
    ck_assert_uint_eq(s.sizes[1], ROWS * 3 * (WARPS - 1));
    ck_assert_uint_eq(s.count[RECORD_TLP], ROWS * (7 * WARPS + 3 * (WARPS - 1)));
    ck_assert_uint_eq(counts.sectors, 4 * s.sizes[4] + s.sizes[1]);
    /* Through an L2 that holds it all: what is read is fetched once, 512 rows; what is written goes back once. */
    s = h200("conv", derive_dram);
    ck_assert_uint_eq(s.bytes[RECORD_DRAM_READ], 512 * 512 * 4);
    ck_assert_uint_eq(s.bytes[RECORD_DRAM_WRITEBACK], ROWS * 512 * 4);
    /* No load leaves its row, and a page holds two rows: one touch each. */
    s = h200("conv", derive_touches);
    ck_assert_uint_eq(s.count[RECORD_TOUCH], 7 * ROWS * WARPS);
}
END_TEST

static uint64_t list_bytes, lists, last_end;

static void check_list(const struct record *r)
{
    if (r->kind != RECORD_SCAN)
        return;
    ck_assert_uint_ge(r->addr, last_end);
    ck_assert_uint_eq(r->id, lists);
    lists++;
    list_bytes += r->bytes;
    last_end = r->addr + r->bytes;
}

static void read_lists(struct store *store)
{
    int stream = store_stream_find(store, "scans");
    ck_assert_int_ge(stream, 0);
    struct store_cursor *cursor = store_cursor_open(store, stream, NULL);
    const struct record *r;
    size_t n;
    list_bytes = lists = last_end = 0;
    while (store_cursor_next(cursor, &r, NULL, &n, NULL) == 1)
        for (size_t i = 0; i < n; i++)
            check_list(&r[i]);
    store_cursor_close(cursor);
}

START_TEST(reads_become_ascending_lists_that_hold_each_sector_once)
{
    struct err err = {""};
    struct store *s = derived(vector_add, derive_requests, &all, &err);
    read_lists(s);
    ck_assert_uint_eq(lists, 4096);
    ck_assert_uint_eq(list_bytes, 2 * 65536 * 4);
    store_close(s);
    s = derived(strided, derive_requests, &all, &err);
    read_lists(s);
    ck_assert_uint_eq(lists, 8192);
    ck_assert_uint_eq(list_bytes, 65536 * 4);
    store_close(s);
    s = derived(stencil, derive_requests, &all, &err);
    read_lists(s);
    ck_assert_uint_eq(list_bytes, 34 * 4096);
    store_close(s);
}
END_TEST

START_TEST(addresses_and_kernels_can_be_chosen)
{
    struct err err = {""};
    struct derive_options some = all;
    some.first = BUILD_B;
    some.last = BUILD_C - 1;
    struct store *s = derived(vector_add, derive_requests, &some, &err);
    ck_assert_uint_eq(sum_of(s, NULL).count[RECORD_TLP], 2048);
    ck_assert_uint_eq(counts.left_out, 4096);
    store_close(s);
    for (int i = 0; i < 2; i++) { /* a line's first byte, its last */
        some.first = some.last = BUILD_B + 127ull * (unsigned)i;
        s = derived(vector_add, derive_requests, &some, &err);
        ck_assert_uint_eq(sum_of(s, NULL).count[RECORD_TLP], 1);
        store_close(s);
    }
    some = all;
    some.kernel = "^_Z6vec";
    s = derived(vector_add, derive_requests, &some, &err);
    ck_assert_uint_eq(sum_of(s, NULL).count[RECORD_TLP], 6144);
    store_close(s);
    some.kernel = "nothing";
    ck_assert_ptr_null(derived(vector_add, derive_requests, &some, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "no kernel's name matches 'nothing'"));
    some.kernel = "[";
    ck_assert_ptr_null(derived(vector_add, derive_requests, &some, &err));
    some = all;
    some.first = some.last = 1;
    ck_assert_ptr_null(derived(vector_add, derive_requests, &some, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "no access is left"));
}
END_TEST

static int refuse(void *ctx, const struct program_op *op, struct err *err)
{
    (void)op;
    ++*(int *)ctx;
    return err_set(err, "no room");
}

/* The recording is longer than a batch of the store. */
START_TEST(a_taker_that_fails_ends_the_walk)
{
    static const struct program_taker taker = {.op = refuse};
    int calls = 0;
    const char *trace = testing_file("kernel-2.traceg");
    FILE *f = fopen(trace, "w");
    vector_add(f, 5);
    (void)fclose(f);
    struct store *in = testing_import(&read_accelsim, trace, true);
    const struct derive_source source = {.store = in, .name = trace};
    FAILS_AS(derive_walk(&source, &all, &taker, &calls, NULL, &err), "no room");
    ck_assert_int_eq(calls, 1);
    store_close(in);
}
END_TEST

TEST_MAIN("derive")
