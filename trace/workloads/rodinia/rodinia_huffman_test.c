#include "trace/workloads/program_testing.h"
#include "trace/workloads/rodinia/check_testing.h"

enum { BUFFER0, BUFFER1, HIST, DATA, OUT, PACKED, CODE, LEN, CIDX = 11, CIDX2, SUMS };

/* The thread that is noted for: block, number in it, and what comes next. */
struct thread {
    struct program_notes notes;
    const struct program *program;
    uint64_t block, when;
    uint32_t launch, threads, t;
};

static void note(struct thread *k, uint32_t kind, unsigned array, uint64_t element)
{
    uint32_t bytes = array <= BUFFER1 ? 1 : 4;
    program_note(&k->notes, k->launch, k->block, k->threads, k->t, k->when++, kind, bytes,
                 program_at(k->program, array, element, bytes));
}

static void histo(struct thread *k, uint64_t grid, uint64_t size)
{
    for (uint64_t i = k->t + k->block * 256; i < size; i += 256 * grid)
        note(k, RECORD_READ, k->launch % 2, i);
    k->when = 1000000;
    note(k, RECORD_ATOMIC, HIST, k->t);
}

static void encode(struct thread *k, uint64_t bits)
{
    note(k, RECORD_READ, CODE, k->t);
    note(k, RECORD_READ, LEN, k->t);
    note(k, RECORD_READ, DATA, k->block * 256 + k->t);
    if (k->t == 255)
        note(k, RECORD_WRITE, CIDX, k->block);
    k->when = 5;
    if (k->t <= bits / 32)
        note(k, RECORD_WRITE, OUT, k->block * 256 + k->t);
}

static void prescan(struct thread *k, unsigned from, unsigned to, bool total)
{
    uint64_t a = k->block * 2 * k->threads + k->t, b = a + k->threads;
    note(k, RECORD_READ, from, a);
    note(k, RECORD_READ, from, b);
    if (total && k->t == 0)
        note(k, RECORD_WRITE, SUMS, k->block);
    k->when = 3;
    note(k, RECORD_WRITE, to, a);
    note(k, RECORD_WRITE, to, b);
}

static void uniform_add(struct thread *k)
{
    if (k->t == 0)
        note(k, RECORD_READ, SUMS, k->block);
    k->when = 1;
    for (uint64_t half = 0; half < 2; half++) {
        note(k, RECORD_READ, CIDX2, k->block * 512 + k->t + 256 * half);
        note(k, RECORD_WRITE, CIDX2, k->block * 512 + k->t + 256 * half);
    }
}

/* As the source has it: a running word, position and bits of each block. */
static void pack(struct thread *k, uint64_t bits)
{
    uint64_t tid = k->block * 16 + k->t, position = tid * bits, to = position / 32, i;
    note(k, RECORD_READ, CIDX, tid);
    note(k, RECORD_READ, CIDX2, tid);
    note(k, RECORD_READ, OUT, tid * 256);
    note(k, RECORD_ATOMIC, PACKED, to);
    for (i = 1; i < bits / 32; i++) {
        note(k, RECORD_READ, OUT, tid * 256 + i);
        note(k, RECORD_WRITE, PACKED, to + i);
    }
    if (position % 32 || bits % 32)
        note(k, RECORD_ATOMIC, PACKED, to + i);
    if (bits % 32) {
        note(k, RECORD_READ, OUT, tid * 256 + i);
        note(k, RECORD_ATOMIC, PACKED, to + i);
        note(k, RECORD_ATOMIC, PACKED, to + i + 1);
    }
}

/* What a launch is, in the order of the host's program. */
struct step {
    enum { HISTO, ENCODE, SCAN_ALONE, SCAN_TOTALS, SCAN_SUMS, ADD, PACK } kernel;
    uint64_t blocks;
    uint32_t threads;
};

static void run(struct thread *k, const struct step *step, uint64_t blocks, uint64_t bits)
{
    k->threads = step->threads;
    for (k->block = 0; k->block < step->blocks; k->block++)
        for (k->t = 0; k->t < k->threads; k->t++) {
            k->when = 0;
            if (step->kernel == HISTO)
                histo(k, step->blocks, blocks * 1024 / 32);
            else if (step->kernel == ENCODE)
                encode(k, bits);
            else if (step->kernel == ADD)
                uniform_add(k);
            else if (step->kernel == PACK)
                pack(k, bits);
            else
                prescan(k, step->kernel == SCAN_SUMS ? SUMS : CIDX, step->kernel == SCAN_SUMS ? SUMS : CIDX2,
                        step->kernel == SCAN_TOTALS);
        }
    k->launch++;
}

static void compare(uint64_t blocks, uint64_t bits, uint32_t runs, uint32_t sms, uint64_t align)
{
    struct workload w;
    const char *spec =
        testing_text("rodinia-huffman,blocks=%u,bits=%u,runs=%u,sms=%u", (unsigned)blocks, (unsigned)bits, runs, sms);
    struct program program = program_opened(&w, spec, 0x10000, align);
    struct thread k = {.program = &program};
    for (int part = 0; part < 32; part++)
        run(&k, &(struct step){HISTO, 2 * (uint64_t)sms, 256}, blocks, bits);
    for (uint32_t i = 0; i < runs; i++)
        run(&k, &(struct step){ENCODE, blocks, 256}, blocks, bits);
    if (blocks <= 512) {
        run(&k, &(struct step){SCAN_ALONE, 1, (uint32_t)blocks / 2}, blocks, bits);
    } else {
        run(&k, &(struct step){SCAN_TOTALS, blocks / 512, 256}, blocks, bits);
        run(&k, &(struct step){SCAN_SUMS, 1, (uint32_t)(blocks / 512) / 2}, blocks, bits);
        run(&k, &(struct step){ADD, blocks / 512, 256}, blocks, bits);
    }
    run(&k, &(struct step){PACK, blocks / 16, 16}, blocks, bits);
    ck_assert_uint_eq(program.ops->launches(program.state), k.launch);
    program_compare(&k.notes, &program);
    workload_close(&w);
}

START_TEST(each_thread_counts_codes_sums_and_packs)
{
    compare(16, 2259, 1, 1, 4); /* bits of a word left over */
    compare(64, 1024, 2, 2, 256);
    compare(128, 8191, 1, 3, 32);
    compare(512, 1056, 1, 1, 0);
    compare(1024, 2016, 1, 2, 4); /* whole words; sums of sums */
    compare(4096, 1025, 1, 7, 256);
}
END_TEST

static const struct program_ops *whole;

static void two_blocks(const void *state, uint32_t launch, struct program_launch *out)
{
    whole->launch(state, launch, out);
    out->blocks = 2;
}

/* Two blocks of it; the arrays that it uses one behind the other. Source: two emulations of the kernel. */
START_TEST(encoding_makes_the_emulated_counts)
{
    static const unsigned used[] = {DATA, CODE, LEN, OUT, CIDX};
    struct workload w;
    struct program program = program_opened(&w, "rodinia-huffman,bits=2040", 0, 0);
    struct program_ops ops = *program.ops;
    size_t n;
    struct program_alloc *allocs = (struct program_alloc *)program.ops->allocs(program.state, &n);
    uint64_t at = 0xC0000000;
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        allocs[used[i]].addr = at;
        at += used[i] == CODE || used[i] == LEN ? 1024 : 2048;
    }
    whole = program.ops;
    ops.launch = two_blocks;
    program.ops = &ops;
    CHECK_OPEN(&program,
               {32, .reads = {48, 1536, 192, 48, 128, 32}, .writes = {6, 130, 18, 6, 17, 5}, .order = 0x073029d8});
    workload_close(&w);
}
END_TEST

START_TEST(a_part_of_the_histogram_makes_the_emulated_counts)
{
    struct workload w;
    struct program program = program_opened(&w, "rodinia-huffman", 0, 0);
    for (uint32_t launch = 0; launch < 32; launch += 31)
        CHECK_OPEN(&program, {launch, .reads = {1024, 32768, 1024, 1024, 1024, 256},
                              .atomics = {1280, 40960, 5120, 1280, 32, 8}});
    workload_close(&w);
}
END_TEST

START_TEST(ptx_waits_for_each_load_and_hoisted_before_what_the_block_shares)
{
    uint32_t ptx, hoisted;
    /* Code, length, word, barriers; the word is needed behind the first, hoisted codes and lengths before it. */
    ck_assert_uint_eq(stalls_of("rodinia-huffman", 32, 0, 0, &ptx), 0x16);
    ck_assert_uint_eq(stalls_of("rodinia-huffman,order=hoisted", 32, 0, 0, &hoisted), 0x8);
    ck_assert_uint_eq(ptx, hoisted);
    /* pack2: bits, place, word, atomic. */
    ck_assert_uint_eq(stalls_of("rodinia-huffman", 45, 0, 0, &ptx), 0xc);
    ck_assert_uint_eq(stalls_of("rodinia-huffman,order=hoisted", 45, 0, 0, &hoisted), 0x8);
    ck_assert_uint_eq(ptx, hoisted);
}
END_TEST

START_TEST(odd_numbers_of_blocks_are_refused_and_many_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-huffman,blocks=48"), "power of two"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-huffman,blocks=8"), "expected 16"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-huffman,bits=8192"), "8191"));
    struct workload w;
    struct program program = program_opened(&w, "rodinia-huffman,blocks=262144", 0, 0);
    for (uint32_t launch = 0; launch < program.ops->launches(program.state); launch++) {
        struct program_launch shape = {0};
        program.ops->launch(program.state, launch, &shape);
        WORKS(program_check_launch(&shape, launch, &err));
    }
    workload_close(&w);
}
END_TEST

TEST_MAIN("rodinia_huffman")
