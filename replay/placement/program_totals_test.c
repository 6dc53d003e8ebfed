#include "replay/placement/program_totals.h"

#include "replay/placement/program_testing.h"
#include "trace/base/testing.h"
#include "trace/event/actor.h"
#include "trace/program/program_adapter.h"
#include "trace/program/random_testing.h"
#include "trace/program/walk.h"

START_TEST(the_hand_worked_program_counts_as_worked)
{
    struct hand h;
    struct program_totals t;
    struct gpu gpu = hand_gpu();
    hand_make(&h);
    WORKS(program_totals_init(&t, &h.program, &gpu, &err));
    ck_assert_uint_eq(t.launches, 3);
    ck_assert_uint_eq(t.kernels, 2);
    const struct launch_totals *k = &t.launch[0], *cpu = &t.launch[1], *last = &t.launch[2];
    ck_assert_uint_eq(k->touched_bytes, 4 * 4096);
    ck_assert_uint_eq(k->modified_bytes, 8192);
    ck_assert_uint_eq(k->touched, 3);
    ck_assert_uint_eq(k->modified, 2);
    ck_assert_uint_eq(k->loaded, 1);
    ck_assert_uint_eq(k->accesses, 4 * 16 * 3);
    ck_assert_uint_eq(k->instructions, 4 * 16 * 2);
    ck_assert_uint_eq(k->loads, 4 * 16 * 2);
    ck_assert_uint_eq(k->waits, 4 * 16);
    ck_assert_uint_eq(k->storing, 4 * 16);
    ck_assert_double_eq(k->places, 4);
    ck_assert_uint_eq(k->resident, 64);
    ck_assert_double_eq(k->warps, 2);
    /* A turn: 100 ns for its loads, three instructions of 1 ns. */
    ck_assert_double_eq_tol(k->ms, 16 * 103e-6, 1e-12);
    ck_assert(cpu->cpu);
    ck_assert_uint_eq(cpu->touched, 3);
    ck_assert_uint_eq(cpu->modified, 1);
    ck_assert_uint_eq(cpu->accesses + cpu->instructions + cpu->waits, 0);
    ck_assert_uint_eq(last->touched_bytes, 2 * 4096);
    ck_assert_uint_eq(last->modified_bytes, 128);
    ck_assert_double_eq_tol(last->ms, 103e-6, 1e-12);
    program_totals_release(&t);
}
END_TEST

START_TEST(warps_beyond_the_places_come_after_one_another)
{
    struct hand h;
    struct program_totals t;
    struct gpu gpu = hand_gpu();
    hand_make(&h);
    gpu.sms = 1;
    gpu.warps_per_sm = 2;
    ck_assert_int_eq(program_totals_init(&t, &h.program, &gpu, NULL), 0);
    ck_assert_uint_eq(t.launch[0].resident, 1);
    ck_assert_double_eq(t.launch[0].warps, 2);
    ck_assert_double_eq(t.launch[0].places, 2);
    ck_assert_double_eq_tol(t.launch[0].ms, 2 * 16 * 103e-6, 1e-12);
    program_totals_release(&t);
}
END_TEST

START_TEST(compute_ns_is_the_time_of_a_turn)
{
    struct hand h;
    struct program_totals t;
    struct gpu gpu = hand_gpu();
    hand_make(&h);
    h.program.compute_ns = 700;
    ck_assert_int_eq(program_totals_init(&t, &h.program, &gpu, NULL), 0);
    ck_assert_double_eq_tol(t.launch[0].ms, 16 * 700e-6, 1e-12);
    program_totals_release(&t);
}
END_TEST

START_TEST(what_fits_nowhere_is_refused)
{
    struct hand h;
    struct program_totals t;
    struct gpu gpu = hand_gpu();
    hand_make(&h);
    gpu.warps_per_sm = 1;
    FAILS_WITH(program_totals_init(&t, &h.program, &gpu, &err), "does not fit");
    program_totals_release(&t);
    hand_make(&h);
    h.allocs[0].device = h.allocs[1].device = true;
    FAILS_WITH(program_totals_init(&t, &h.program, &gpu, &err), "managed");
    program_totals_release(&t);
}
END_TEST

/* --- lane by lane --- */

#define FIRST UINT64_C(0x7f0000000)
enum { PAGES = 200 }; /* what may be touched of random programs, and beside it */

static struct naive {
    const struct program_random *state;
    bool page[PAGES], sector[PAGES * ACTOR_PAGE_BYTES / 32];
    uint64_t touched, modified;
} naive[3];

static bool managed(const struct program_random *p, uint64_t byte)
{
    for (int i = 0; i < 4; i++)
        if (byte >= p->allocs[i].addr && byte < p->allocs[i].addr + p->allocs[i].bytes)
            return !p->allocs[i].device;
    return false;
}

/* What a launch touches by pages, and modifies by sectors of 32 bytes. */
static int take_lines(void *ctx, const struct program_op *op, struct err *err)
{
    struct naive *n = &((struct naive *)ctx)[op->launch];
    (void)err;
    for (int i = 0; i < op->lines; i++) {
        uint64_t line = op->line[i].addr, page = line / ACTOR_PAGE_BYTES - FIRST;
        if (!managed(naive->state, line))
            continue;
        ck_assert_uint_lt(page, PAGES);
        n->touched += n->page[page] ? 0 : ACTOR_PAGE_BYTES;
        n->page[page] = true;
        for (unsigned k = 0; k < 4 && op->access != RECORD_READ; k++) {
            uint64_t sector = (line - FIRST * ACTOR_PAGE_BYTES) / 32 + k;
            bool wanted = op->line[i].sectors >> k & 1 && !n->sector[sector];
            n->modified += wanted ? 32 : 0;
            n->sector[sector] |= wanted;
        }
    }
    return 0;
}

/* Lanes at strides, in tables and beyond their allocations: whatever is looked at together is what each lane is. */
START_TEST(totals_are_those_of_the_lanes)
{
    static const struct program_taker taker = {.op = take_lines};
    static const struct program_walk whole = {0}, meant = {.managed_only = true};
    struct gpu gpu = hand_gpu();
    struct err err = {""};
    uint64_t modified = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct program_random state;
        struct program program;
        struct program_totals t;
        program_random_init(&state, seed, &program);
        memset(naive, 0, sizeof naive);
        naive->state = &state;
        if (program_totals_init(&t, &program, &gpu, &err)) /* blocks that fit nowhere */
            continue;
        ck_assert_int_eq(program_walk(&program, &meant, &taker, naive, NULL, &err), 0);
        for (uint32_t l = 0; l < t.launches; l++) {
            ck_assert_uint_ge(t.launch[l].touched_bytes, naive[l].touched); /* bytes behind an allocation's end too */
            ck_assert_uint_le(t.launch[l].touched_bytes, naive[l].touched + 3 * ACTOR_PAGE_BYTES);
        }
        ck_assert_int_eq(program_walk(&program, &whole, &taker, naive, NULL, &err), 0);
        for (uint32_t l = 0; l < t.launches; l++) {
            ck_assert_msg(t.launch[l].modified_bytes == naive[l].modified, "seed %llu, launch %u: %llu B, %llu",
                          (unsigned long long)seed, l, (unsigned long long)t.launch[l].modified_bytes,
                          (unsigned long long)naive[l].modified);
            modified += naive[l].modified;
        }
        program_totals_release(&t);
    }
    ck_assert_uint_gt(modified, 1000000);
}
END_TEST

static uint32_t the_first(const void *state, uint32_t launch)
{
    (void)state;
    (void)launch;
    return 0;
}

/* What is modified of an allocation is what the program modifies that keeps all others on the GPU, launches that are
 * like one before them included. */
START_TEST(modified_bytes_are_told_apart_by_allocation)
{
    const struct gpu gpu = hand_gpu();
    struct err err;
    uint64_t checked = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct program_random state;
        struct program program;
        struct program_totals t, one;
        program_random_init(&state, seed, &program);
        struct program_ops ops = *program.ops; /* its launches are all like the first, or not */
        ops.like = seed % 2 ? the_first : NULL;
        program.ops = &ops;
        bool fits = program_totals_init(&t, &program, &gpu, &err) == 0;
        for (size_t i = 0; fits && i < t.alloc_count; i++) {
            struct program_placed p;
            program_placed_init(&p, &program, ~(UINT64_C(1) << i));
            uint64_t bytes = 0;
            if (program_totals_init(&one, &p.adapter.program, &gpu, &err) == 0)
                for (uint32_t l = 0; l < one.launches; l++)
                    bytes += one.launch[l].modified_bytes;
            ck_assert_uint_eq(t.modified_of[i], bytes);
            checked += bytes;
            program_totals_release(&one);
        }
        program_totals_release(&t);
    }
    ck_assert_uint_gt(checked, 100000);
}
END_TEST

enum { A = 1, B = 2, C = 4 };

static const struct program_alloc allocs[] = {
    {.name = "A", .bytes = 100, .host = true}, {.name = "B", .bytes = 10}, {.name = "C", .bytes = 1, .scratch = true}};
static struct program_copies copies;

static void count(struct launch_totals *launch, uint32_t launches)
{
    const struct program_totals totals = {.allocs = allocs, .alloc_count = 3, .launch = launch, .launches = launches};
    program_copies_count(&copies, &totals);
}

START_TEST(what_the_cpu_wrote_goes_in_once_and_results_come_back_last)
{
    struct launch_totals kernels[] = {{.touched = A | B | C, .modified = B | C, .touched_bytes = 7},
                                      {.touched = A | B, .modified = B, .touched_bytes = 9}};
    count(kernels, 2);
    ck_assert_int_eq(copies.in_bytes, 100);
    ck_assert_int_eq(copies.in_copies, 1);
    ck_assert_int_eq(copies.back_bytes, 10); /* scratch stays */
    ck_assert_int_eq(copies.last_bytes, 10);
    ck_assert_int_eq(copies.last_copies, 1);
    ck_assert_int_eq(copies.dirty_kernels, 1);
    ck_assert_int_eq(copies.dirty_bytes, 7);
    ck_assert_uint_eq(copies.copied, A | B);
}
END_TEST

START_TEST(a_cpu_phase_between_kernels_takes_what_it_touches_and_gives_what_it_writes)
{
    struct launch_totals kernels[] = {{.touched = A | B, .modified = B},
                                      {.cpu = true, .touched = B, .modified = B},
                                      {.touched = A | B, .modified = A}};
    count(kernels, 3);
    ck_assert_int_eq(copies.in_bytes, 110);
    ck_assert_int_eq(copies.back_bytes, 110); /* B for the CPU, A at the end */
    ck_assert_int_eq(copies.last_bytes, 100);
    ck_assert_int_eq(copies.dirty_kernels, 2);
}
END_TEST

TEST_MAIN("program_totals")
