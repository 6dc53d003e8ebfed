/* Kernels and requests are its own: by including it. */
#include "trace/workloads/pim/pim_program.c"

#include "trace/base/testing.h"
#include "trace/program/walk.h"
#include "trace/workloads/workload.h"

/* The stream of next(), taken record by record beside the walk. */
struct beside {
    struct workload w;
    struct record records[1000];
    size_t at, n;
    struct dram_map map;
    uint64_t taken;
};

/* No check for each request: Check writes to a file for every one of them. */
static int same_request(void *ctx, const struct program_op *op, struct err *err)
{
    struct beside *s = ctx;
    if (s->at == s->n) {
        s->at = 0;
        if (s->w.type->next(s->w.state, s->records, 1000, &s->n, err))
            return -1;
        if (s->n == 0)
            return err_set(err, "the walk goes on after request %llu", (unsigned long long)s->taken);
    }
    const struct record *r = &s->records[s->at++];
    if (op->access != PROGRAM_PIM || op->lines != 1 || __builtin_popcount(op->line[0].sectors) != 1)
        return err_set(err, "request %llu: kind %u, %d lines", (unsigned long long)s->taken, op->access, op->lines);
    uint64_t addr = op->line[0].addr + ACCESS_SECTOR * (uint64_t)__builtin_ctz(op->line[0].sectors);
    if (dram_addr_pack(dram_map_decode(&s->map, addr)) != r->addr)
        return err_set(err, "request %llu: byte 0x%llx, record 0x%llx", (unsigned long long)s->taken,
                       (unsigned long long)addr, (unsigned long long)r->addr);
    s->taken++;
    return 0;
}

static uint64_t all_blocks(const void *ctx, const struct program_launch *launch)
{
    (void)ctx;
    return launch->blocks;
}

/* Requests of the kernel; every one is compared. */
static uint64_t compare(const char *spec)
{
    struct beside s = {0};
    struct err err = {""};
    ck_assert_msg(workload_open(&s.w, spec, &err) == 0, "%s: %s", spec, err.msg);
    ck_assert_int_eq(dram_map_init(&s.map, PIM_MAP, &err), 0);
    struct program program;
    ck_assert_msg(s.w.type->program(s.w.state, &program, &err) == 0, "%s: %s", spec, err.msg);
    const struct program_walk waves = {.resident = all_blocks};
    const struct program_taker taker = {.op = same_request};
    ck_assert_msg(program_walk(&program, &waves, &taker, &s, NULL, &err) == 0, "%s: %s", spec, err.msg);
    ck_assert_msg(s.at == s.n, "%s: the stream has more than the walk", spec);
    ck_assert_int_eq(s.w.type->next(s.w.state, s.records, 1000, &s.n, &err), 0);
    ck_assert_uint_eq(s.n, 0);
    workload_close(&s.w);
    return s.taken;
}

START_TEST(the_walk_of_every_kernel_is_its_stream_request_by_request)
{
    static const char *const keys[] = {",channels=1",
                                       ",channels=32,rows=5",
                                       ",channels=5,rows=3",
                                       ",rows=1,channels=1",
                                       ",rows=2,base_row=8,channels=1",
                                       ",ops=1",
                                       ",ops=7,channels=3",
                                       ",ops=1234,rows=40,channels=8,base_row=3072"};
    for (const struct pim_kernel *k = pim_kernels; k->name; k++)
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            uint64_t requests = compare(testing_text("pim-%s%s", k->name, keys[i]));
            ck_assert_uint_gt(requests, 0);
        }
    ck_assert_uint_eq(compare("pim-add,channels=1"), 98304);
    ck_assert_uint_eq(compare("pim-grim,channels=32"), 12288 * 32);
}
END_TEST

START_TEST(operations_that_repeat_evenly_are_turns)
{
    struct workload w;
    struct err err = {""};
    struct program program;
    ck_assert_int_eq(workload_open(&w, "pim-add,channels=1", &err), 0);
    ck_assert_int_eq(w.type->program(w.state, &program, &err), 0);
    static struct program_body body;
    uint32_t bodies = 0;
    while (program_body(&program, (void *)program.state, 0, 0, bodies, &body, &err) == 1) {
        ck_assert_uint_eq(body.count, 48);
        ck_assert_uint_eq(body.turns, 8);
        ck_assert_int_eq(body.access[0].turn_stride, 16384);
        bodies++;
    }
    ck_assert_uint_eq(bodies, 256); /* one a row */
    size_t n;
    const struct program_alloc *rows = program.ops->allocs(program.state, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert(rows->device);
    ck_assert_uint_eq(rows->addr, 4096ull << 20);
    ck_assert_uint_eq(rows->bytes, 3 * 256ull << 20);
    workload_close(&w);
}
END_TEST

START_TEST(what_has_no_address_is_refused)
{
    static const struct {
        const char *spec, *says;
    } wrong[] = {{"pim-add,channels=33", "33 channels"}, {"pim-add,base_row=8000", "row 8767"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct workload w;
        struct program program;
        WORKS(workload_open(&w, wrong[i].spec, &err));
        FAILS_WITH(w.type->program(w.state, &program, &err), wrong[i].says);
        workload_close(&w);
    }
}
END_TEST

TEST_MAIN("pim_program")
