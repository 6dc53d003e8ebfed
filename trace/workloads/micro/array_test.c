#include "trace/workloads/program_testing.h"

/* The shapes that every pattern is tried with: blocks and threads of a block. */
static const uint32_t shapes[][2] = {{1, 1}, {1, 7}, {3, 1}, {1, 32}, {2, 33}, {5, 100}, {1, 1024}, {70, 1}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static uint64_t hash(uint64_t i)
{
    i *= 0x9E3779B97F4A7C15u;
    i ^= i >> 29;
    i *= 0xBF58476D1CE4E5B9u;
    i ^= i >> 32;
    return i;
}

static void stride(const char *spec, uint64_t n, uint64_t offset, uint32_t element, const uint32_t *shape,
                   uint64_t unroll, uint32_t launches)
{
    struct workload w;
    struct program program = program_opened(&w, spec, 0x10000, 4u << n % 9);
    struct program_notes notes = {0};
    uint64_t all = (uint64_t)shape[0] * shape[1];
    for (uint32_t launch = 0; launch < launches; launch++)
        for (uint64_t block = 0; block < shape[0]; block++)
            for (uint32_t t = 0; t < shape[1]; t++) {
                uint64_t i = offset + block * shape[1] + t, trip = 0;
                for (; i + (unroll - 1) * all < n; i += unroll * all)
                    for (uint64_t k = 0; k < unroll; k++)
                        program_note(&notes, launch, block, shape[1], t, trip++, RECORD_READ, element,
                                     program_at(&program, 0, i + k * all, element));
                for (; i < n; i += all)
                    program_note(&notes, launch, block, shape[1], t, (1ull << 32) + trip++, RECORD_READ, element,
                                 program_at(&program, 0, i, element));
            }
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(stride_reads_every_element_once_a_launch)
{
    static const uint64_t sizes[] = {1, 33, 100, 999, 4001};
    for (int s = 0; s < SHAPES; s++)
        for (uint64_t i = 0; i < 5; i++)
            for (uint32_t e = 1; e <= 16; e *= 2) {
                if (sizes[i] * e < 4) /* the least that an array has */
                    continue;
                uint64_t unroll = 1 + (i + e) % 5, offset = i * (unsigned)s;
                uint32_t launches = 1 + (uint32_t)i % 2;
                char spec[160];
                (void)snprintf(spec, sizeof spec,
                               "array,bytes=%llu,offset=%llu,element=%u,blocks=%u,threads=%u,unroll=%llu,launches=%u",
                               (unsigned long long)((sizes[i] + offset + 1) * e - 1), (unsigned long long)offset, e,
                               shapes[s][0], shapes[s][1], (unsigned long long)unroll, launches);
                stride(spec, sizes[i] + offset, offset, e, shapes[s], unroll, launches);
            }
}
END_TEST

START_TEST(random_reads_page_h_of_i)
{
    for (uint64_t bytes = 16384; bytes < 3 << 20; bytes = bytes * 2 + 5000)
        for (uint32_t threads = 1; threads <= 1024; threads = threads * 5 + 3) {
            struct workload w;
            const char *spec =
                testing_text("array,pattern=random,bytes=%llu,threads=%u", (unsigned long long)bytes, threads);
            struct program program = program_opened(&w, spec, 0, 0);
            struct program_notes notes = {0};
            for (uint64_t i = 0; i < bytes / 16384; i++)
                program_note(&notes, 0, i / threads, threads, (uint32_t)(i % threads), 0, RECORD_READ, 4,
                             program_at(&program, 0, hash(i) % (bytes / 4096), 4096));
            program_compare(&notes, &program);
            workload_close(&w);
        }
}
END_TEST

/* As fixtures/cuda/uvm_array.cu chooses them: of `per` distinct pages of a block the one with `at` lower ones. */
static uint64_t sparse_page(uint64_t block, uint64_t per, uint64_t at)
{
    uint64_t drawn[512], lower = 0;
    for (uint64_t i = 0; i < per; i++) {
        drawn[i] = hash(block * 1024 + i + block * per) % 512;
        for (uint64_t k = 0; k < i; k++)
            if (drawn[k] == drawn[i]) { /* taken: the next one, and look again */
                drawn[i] = (drawn[i] + 1) % 512;
                k = UINT64_MAX;
            }
    }
    for (uint64_t page = 0; page < 512; page++)
        for (uint64_t i = 0; i < per; i++)
            if (drawn[i] == page && lower++ == at)
                return page;
    return 512;
}

START_TEST(sparse_reads_the_table_and_then_its_pages_in_address_order)
{
    static const uint32_t per[] = {1, 3, 100, 511, 512};
    for (int k = 0; k < 5; k++) {
        struct workload w;
        struct program program =
            program_opened(&w, testing_text("array,pattern=sparse,bytes=7000000,pages_per_block=%u", per[k]), 0, 0);
        struct program_notes notes = {0};
        for (uint64_t i = 0; i < 3 * per[k]; i++) { /* three whole blocks */
            uint64_t page = i / per[k] * 512 + sparse_page(i / per[k], per[k], i % per[k]);
            program_note(&notes, 0, i / 256, 256, i % 256, 0, RECORD_READ, 4, program_at(&program, 1, i, 4));
            program_note(&notes, 0, i / 256, 256, i % 256, 1, RECORD_READ, 4, program_at(&program, 0, page, 4096));
        }
        program_compare(&notes, &program);
        size_t n;
        ck_assert(program.ops->allocs(program.state, &n)[1].device); /* the table is no managed memory */
        workload_close(&w);
    }
}
END_TEST

START_TEST(chain_is_one_thread_that_waits_for_each_read)
{
    static const uint64_t cases[][2] = {{4, 4}, {4, 65536}, {1 << 20, 65536}, {100000, 4096}, {1000, 10}, {4097, 4096}};
    for (int c = 0; c < 6; c++) {
        struct workload w;
        const char *spec = testing_text("array,pattern=chain,bytes=%llu,step=%llu", (unsigned long long)cases[c][0],
                                        (unsigned long long)cases[c][1]);
        struct program program = program_opened(&w, spec, 0, 0);
        struct program_notes notes = {0};
        for (uint64_t at = 0, when = 0; at < cases[c][0] / 4; at += cases[c][1] / 4)
            program_note(&notes, 0, 0, 1, 0, when++, RECORD_READ, 4, program_at(&program, 0, at, 4));
        program_compare(&notes, &program);
        workload_close(&w);
    }
}
END_TEST

START_TEST(loads_are_issued_together_where_the_loop_is_unrolled)
{
    for (uint32_t unroll = 1; unroll <= 4; unroll += 3) {
        struct workload w;
        struct program program = program_opened(
            &w, testing_text("array,bytes=1MiB,blocks=1,threads=32%s", unroll > 1 ? ",unroll=4" : ""), 0, 0);
        static struct program_body body;
        ck_assert_int_eq(program_body(&program, w.state, 0, 0, 0, &body, NULL), 1);
        ck_assert_uint_eq(body.count, unroll);
        ck_assert_uint_eq(body.turns, (1 << 20) / 128 / unroll);
        ck_assert_uint_eq(program_stalls(&body), 0); /* but at the end of the turn */
        workload_close(&w);
    }
}
END_TEST

START_TEST(arrays_that_are_too_small_are_refused)
{
    ck_assert_ptr_nonnull(strstr(program_refused("array,pattern=random,bytes=16383"), "16384 bytes"));
    ck_assert_ptr_nonnull(strstr(program_refused("array,pattern=sparse,bytes=2000000"), "2097152 bytes"));
    ck_assert_ptr_nonnull(strstr(program_refused("array,pattern=chunk,bytes=8191"), "8,192 bytes"));
    ck_assert_ptr_nonnull(strstr(program_refused("array,bytes=15,element=16"), "bytes is 15"));
    ck_assert_ptr_nonnull(strstr(program_refused("array,bytes=16,offset=4"), "offset is 4"));
}
END_TEST

START_TEST(huge_arrays_open_at_once)
{
    static const char *const patterns[] = {"stride", "random", "sparse", "chain", "chunk", "chunk-random"};
    for (int i = 0; i < 6; i++) {
        struct workload w;
        struct program program = program_opened(
            &w, testing_text("array,pattern=%s,bytes=4TiB,blocks=1048576,threads=1024", patterns[i]), 0, 0);
        struct program_launch launch = {0};
        static struct program_body body;
        program.ops->launch(program.state, 0, &launch);
        ck_assert_int_eq(program_check_launch(&launch, 0, NULL), 0);
        (void)program_body(&program, w.state, 0, program_warps(&launch) - 1, 0, &body, NULL);
        workload_close(&w);
    }
}
END_TEST

TEST_MAIN("array")
