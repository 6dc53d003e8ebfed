#include "models/gpu/sms_testing.h"
#include "trace/program/random_testing.h"

static struct gpu chip(void)
{
    struct gpu gpu;
    param_defaults(gpu_params, &gpu);
    gpu.l1_cycles = 20;
    return gpu;
}

/* Run it on so many multiprocessors; the sink's notes and end stay. */
static struct sms_counts run(const struct program *program, const struct gpu *gpu, uint32_t sms, struct sink *sink)
{
    struct sms_options o = {.gpu = gpu, .program = program, .sms = sms, .input_room = 512};
    struct err err = {""};
    struct sms *s = sms_new(&o, &err);
    ck_assert_msg(s != NULL, "%s", err.msg);
    sink_run(sink, s, sms);
    ck_assert_msg(sms_failed(s, &err) == 0, "%s", err.msg);
    struct sms_counts c;
    sms_counts(s, &c);
    sms_free(s);
    return c;
}

START_TEST(random_programs_end)
{
    struct gpu gpu = chip();
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct program_random p;
        struct program program;
        program_random_init(&p, seed, &program);
        struct sink sink = {.latency = 1 + (int64_t)(seed % 300)};
        struct sms_counts c = run(&program, &gpu, 1 + seed % 80, &sink);
        ck_assert_uint_eq(c.packets_read + c.packets_write + c.packets_atomic, sink.n);
        ck_assert_uint_eq(sink.answered, sink.n);
        ck_assert_uint_eq(c.load_sectors, c.hits + c.merged + c.packets_read);
        sink_release(&sink);
    }
}
END_TEST

TEST_MAIN("sms", random_programs_end)
