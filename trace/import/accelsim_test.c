#include "trace/base/param_value.h"
#include "trace/import/reader.h"

#include <sys/stat.h>

#include "trace/base/testing.h"
#include "trace/import/testing_accelsim.h"
#include "trace/import/testing_access.h"

static FILE *open_file(const char *path)
{
    FILE *f = GIVES(fopen(path, "w"));
    return f;
}

static void add_count(int64_t *sum, const struct store_value *v, const char *reason)
{
    if (strcmp(v[0].s, reason) == 0)
        *sum += v[1].i;
}

static const char *wanted;

static int count_reason(void *ctx, const struct store_value *v, size_t n)
{
    (void)n;
    add_count(ctx, v, wanted);
    return 0;
}

static int64_t counted(struct store *s, const char *table, const char *reason)
{
    int64_t n = 0;
    wanted = reason;
    ck_assert_int_eq(store_rows(s, table, count_reason, &n, NULL), 0);
    return n;
}

START_TEST(vector_add_reads_two_lines_and_writes_one_per_warp_in_every_version)
{
    static const int versions[] = {0, 2, 3, 4, 5, 6};
    for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
        const char *path = testing_file("kernel-1.traceg");
        FILE *f = open_file(path);
        build_vector_add(f, versions[v], 65536);
        (void)fclose(f);
        struct store *s = testing_import(&read_accelsim, path, true);
        struct testing_accesses a = testing_read_accesses(s);
        ck_assert_int_eq(a.instructions, 6144);
        ck_assert_int_eq(a.n, 6144);
        for (int i = 0; i < a.n; i++) {
            static const uint64_t bases[] = {BUILD_A, BUILD_B, BUILD_C};
            uint64_t warp = (uint64_t)i / 3;
            ck_assert_uint_eq(a.records[i].addr, bases[i % 3] + 128 * warp);
            ck_assert_uint_eq(a.records[i].flags, 15u | (i % 3 == 2 ? RECORD_WRITE : RECORD_READ) << 4);
            ck_assert_uint_eq(a.records[i].id, (warp / 8) << 32 | warp % 8);
        }
        ck_assert(store_complete(s));
        testing_release(&a, s);
    }
}
END_TEST

START_TEST(strided_reads_touch_32_lines_each)
{
    const char *path = testing_file("kernel-2.traceg");
    FILE *f = open_file(path);
    build_strided(f, 3, 65536);
    (void)fclose(f);
    struct store *s = testing_import(&read_accelsim, path, true);
    struct testing_accesses a = testing_read_accesses(s);
    ck_assert_int_eq(a.instructions, 2048);
    ck_assert_int_eq(a.n, 2048 * 32);
    for (int i = 0; i < a.n; i++) {
        int load = i / 32, lane = i % 32, warp = load / 32, step = load % 32;
        ck_assert_uint_eq(a.records[i].addr, BUILD_A + 4096ull * (unsigned)warp + 128ull * (unsigned)lane);
        ck_assert_uint_eq(a.records[i].flags, 1u << step / 8 | RECORD_READ << 4);
    }
    testing_release(&a, s);
}
END_TEST

START_TEST(a_list_in_a_folder_gives_copies_and_launches_and_says_what_is_missing)
{
    char path[300];
    const char *folder = testing_file("set");
    (void)mkdir(folder, 0700);
    (void)snprintf(path, sizeof path, "%s/kernelslist.g", folder);
    FILE *f = open_file(path);
    (void)fprintf(f, "MemcpyHtoD,0x00007f0000000000,262144\r\nMemcpyHtoD,oops\ncudaMalloc,5\n\nkernel-1.traceg\n"
                     "kernel-2.traceg\nkernel-3-ctx_0x55.traceg.xz\n");
    (void)fclose(f);
    (void)snprintf(path, sizeof path, "%s/kernel-1.traceg", folder);
    f = open_file(path);
    build_vector_add(f, 5, 4096);
    (void)fclose(f);
    (void)snprintf(path, sizeof path, "%s/kernel-2.traceg", folder);
    f = open_file(path);
    build_stencil(f, 3, 256, 4);
    (void)fclose(f);
    ck_assert_int_eq(read_accelsim.probe(folder, NULL, 0), PROBE_YES);
    (void)snprintf(path, sizeof path, "%s/kernelslist.g", folder);
    struct store *s = testing_import(&read_accelsim, path, true);
    struct testing_accesses a = testing_read_accesses(s);
    ck_assert_int_eq(a.launches, 2);
    /* Stencil: 2 rows of 8 warps, 6 accesses each; those at -4 and +4 touch two lines. */
    ck_assert_int_eq(a.instructions, 4096 / 32 * 3 + 16 * 6);
    ck_assert_int_eq(a.n, 4096 / 32 * 3 + 16 * 8);
    ck_assert(!store_complete(s));
    ck_assert_ptr_nonnull(strstr(testing_context.incomplete, "kernel-3-ctx_0x55.traceg.xz, also with"));
    ck_assert_int_eq(counted(s, "dropped", "kernel trace missing"), 1);
    ck_assert_int_eq(counted(s, "skipped", "copy to the device without address and bytes"), 1);
    ck_assert_int_eq(counted(s, "skipped", "list line of another kind"), 1);
    testing_release(&a, s);
}
END_TEST

START_TEST(raw_traces_say_in_each_line_whose_it_is)
{
    const char *path = testing_file("kernel-1.trace");
    FILE *f = open_file(path);
    build_header(f, 3, "raw", 1, 2);
    (void)fprintf(f, "1 0 0 3 00a0 00000001 1 R0 LDG.E 1 R2 4 2 0x7f00\n"
                     "0 0 0 2 00a0 00000001 1 R0 LDS 1 R2 4 2 0x10\n"
                     "0 0 0 2 00a0 00000001 0 LDGSTS.E.128 2 R2 R3 16 2 0x10\n"
                     "0 0 0 2 00a0 00000001 0 LDGSTS.E.128 2 R2 R3 16 2 0x8000\n");
    (void)fclose(f);
    struct store *s = testing_import(&read_accelsim, path, true);
    struct testing_accesses a = testing_read_accesses(s);
    ck_assert_int_eq(a.n, 2);
    ck_assert_uint_eq(a.records[0].id, 1ull << 32 | 3);
    ck_assert_uint_eq(a.records[1].addr, 0x8000);
    ck_assert_uint_eq(a.records[1].bytes, 16);
    ck_assert_int_eq(counted(s, "skipped", "shared memory access"), 2);
    testing_release(&a, s);
}
END_TEST

START_TEST(missing_blocks_and_empty_warps_are_counted)
{
    const char *path = testing_file("kernel-1.traceg");
    FILE *f = open_file(path);
    build_header(f, 3, "partial", 1, 10);
    (void)fprintf(f, "#BEGIN_TB\nthread block = 4,0,0\nwarp = 0\ninsts = 0\nwarp = 1\ninsts = 2\n"
                     "00a0 00000001 1 R0 LDG.E 1 R2 4 2 0x7f00\n00a0 zzz\n#END_TB\n");
    (void)fclose(f);
    struct store *s = testing_import(&read_accelsim, path, true);
    ck_assert_int_eq(counted(s, "dropped", "thread block not in the trace"), 9);
    ck_assert_int_eq(counted(s, "skipped", "warp without instructions"), 1);
    ck_assert_int_eq(counted(s, "skipped", "instruction with no mask of 32 lanes"), 1);
    ck_assert(store_complete(s));
    store_close(s);
}
END_TEST

/* Import `text` as a single trace: the error's words, or "" if it was read. */
static const char *refused(const char *text)
{
    store_close(testing_import(&read_accelsim, testing_write("bad.traceg", text, strlen(text)), false));
    return testing_err.msg;
}

START_TEST(malformed_traces_are_refused_with_their_line)
{
    ck_assert_ptr_nonnull(
        strstr(refused("-kernel name = x\nnonsense\n"), "bad.traceg: line 2 'nonsense': neither a header line"));
    ck_assert_ptr_eq(strstr(testing_err.msg, "bad.traceg"), strrchr(testing_err.msg, '/') + 1); /* once */
    ck_assert_ptr_nonnull(strstr(refused("-accelsim tracer version = 7\n-kernel name = x\n#\n"),
                                 "/bad.traceg: line 3 '#': tracer version 7 is newer than 6"));
    ck_assert_ptr_nonnull(
        strstr(refused("-kernel name = x\n#BEGIN_TB\n#BEGIN_TB\n"), "line 3 '#BEGIN_TB': #BEGIN_TB inside"));
    ck_assert_ptr_nonnull(strstr(refused("-kernel name = x\n#\n#END_TB\n"), "line 3 '#END_TB': #END_TB outside"));
    ck_assert_ptr_nonnull(
        strstr(refused("-kernel name = x\n#BEGIN_TB\nwarp = 0\ninsts = 2\n#END_TB\n"), "before the announced"));
    ck_assert_ptr_nonnull(strstr(refused("-kernel name = x\n#BEGIN_TB\nwurp = 0\n"), "neither warp, insts"));
    ck_assert_ptr_nonnull(strstr(refused("-kernel name = x\n-accelsim tracer version = 3\n#BEGIN_TB\n#END_TB\n"
                                         "00a0 1 0 NOP 0 0\n"),
                                 "outside of all thread blocks"));
    ck_assert_ptr_nonnull(strstr(refused("-kernel name = x\n-accelsim tracer version = 3\n-grid dim = (1,1,1)\n#\n"
                                         "#BEGIN_TB\nwarp = 0\ninsts = 2\n00a0 zzz\n00b0 zzz\n#END_TB\n"),
                                 "no access in it, and 2 instruction lines that cannot be read"));
    ck_assert_ptr_nonnull(strstr(refused("kernel-1.tracez\n"), "--text"));
    ck_assert_ptr_nonnull(strstr(refused("MemcpyHtoD,0x10,16\n"), "no kernel trace"));
    ck_assert_str_eq(refused("-kernel name = x\n-accelsim tracer version = 3\n#\n#BEGIN_TB\nwarp = 0\ninsts = 9\n"),
                     "");
    ck_assert_ptr_nonnull(strstr(testing_context.incomplete, "ends inside a thread block"));
}
END_TEST

START_TEST(a_list_that_names_itself_or_a_list_is_refused)
{
    const char *path = testing_text("%s", testing_file("kernel-1.traceg"));
    FILE *f = open_file(path);
    (void)fprintf(f, "kernel-1.traceg\n");
    (void)fclose(f);
    store_close(testing_import(&read_accelsim, path, false));
    ck_assert_ptr_nonnull(strstr(testing_err.msg, "neither a header line"));
}
END_TEST

/* A folder with the kernels 1 vector add, 2 strided, 3 stencil, and a list of them called `list`. */
static const char *make_set(const char *folder, const char *list, const char *copies)
{
    char path[300];
    (void)mkdir(folder, 0700);
    (void)snprintf(path, sizeof path, "%s/%s", folder, list);
    FILE *f = open_file(path);
    (void)fprintf(f, "%skernel-1.traceg\nkernel-2.traceg\nkernel-3.traceg\n", copies);
    (void)fclose(f);
    for (int k = 1; k <= 3; k++) {
        (void)snprintf(path, sizeof path, "%s/kernel-%d.traceg", folder, k);
        f = open_file(path);
        if (k == 1)
            build_vector_add(f, 5, 4096);
        else if (k == 2)
            build_strided(f, 3, 65536);
        else
            build_stencil(f, 3, 256, 4);
        (void)fclose(f);
    }
    return folder;
}

/* The launches that an import of `path` with option kernel = chosen gives; -1: refused, with the reason in testing_err.
 */
static int launches_of(const char *path, const char *chosen)
{
    char *options = calloc(1, read_accelsim.options_size);
    param_defaults(read_accelsim.options, options);
    ck_assert_int_eq(param_set(read_accelsim.options, options, "kernel", chosen, &testing_err), 0);
    struct store *store = store_create_temporary(":memory:", &testing_err);
    struct reader_context context = {.store = store, .path = path, .options = options};
    int rc = reader_run(&read_accelsim, &context, NULL, &testing_err);
    int launches = (int)context.launches;
    store_close(store);
    free(options);
    return rc ? -1 : launches;
}

START_TEST(kernels_are_chosen_by_number_or_by_name)
{
    const char *folder = make_set(testing_file("chosen"), "kernelslist.g", "");
    ck_assert_int_eq(launches_of(folder, "2"), 1);
    ck_assert_int_eq(launches_of(folder, "^_Z7str"), 1);
    ck_assert_int_eq(launches_of(folder, "vecadd|stencil"), 2);
    ck_assert_int_eq(launches_of(folder, "."), 3);
    ck_assert_int_eq(launches_of(folder, "9"), -1);
    ck_assert_msg(strstr(testing_err.msg, "none of 3 kernels is called 9") != NULL, "%s", testing_err.msg);
    ck_assert_int_eq(launches_of(folder, "a(b"), -1);
    ck_assert_ptr_nonnull(strstr(testing_err.msg, "neither a number nor a regular expression"));
}
END_TEST

START_TEST(a_folder_is_read_whatever_its_list_is_called)
{
    static const char *const lists[] = {"kernelslist", "kernelslist.g", "kernelslist_ctx_0x55.g",
                                        "kernelslist_ctx_0x55"};
    char folder[300];
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        (void)snprintf(folder, sizeof folder, "%s-%zu [a]*", testing_file("list"), i);
        (void)make_set(folder, lists[i], "");
        ck_assert_int_eq(read_accelsim.probe(folder, NULL, 0), PROBE_YES);
        ck_assert_int_eq(launches_of(folder, "."), 3);
    }
    /* The lists of two contexts: both. */
    (void)make_set(folder, "kernelslist_ctx_0x66", "");
    ck_assert_int_eq(launches_of(folder, "."), 6);
    (void)snprintf(folder, sizeof folder, "%s", testing_file("nolist"));
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    (void)testing_write("nolist/kernel-1.traceg", "", 0);
    ck_assert_int_eq(read_accelsim.probe(folder, NULL, 0), PROBE_NO);
    ck_assert_int_eq(launches_of(folder, "."), -1);
    ck_assert_ptr_nonnull(strstr(testing_err.msg, "no kernelslist.g, kernelslist or kernelslist_ctx_*"));
}
END_TEST

START_TEST(an_empty_kernel_trace_makes_the_set_incomplete)
{
    const char *folder = make_set(testing_file("empty"), "kernelslist.g", "");
    (void)testing_write("empty/kernel-2.traceg", "", 0);
    struct store *s = testing_import(&read_accelsim, testing_file("empty/kernelslist.g"), true);
    (void)folder;
    ck_assert(!store_complete(s));
    ck_assert_ptr_nonnull(strstr(testing_context.incomplete, "kernel-2.traceg is empty"));
    ck_assert_int_eq(counted(s, "dropped", "kernel trace empty"), 1);
    store_close(s);
}
END_TEST

START_TEST(the_list_stays_in_its_folder)
{
    (void)make_set(testing_file("outside"), "kernelslist.g", "kernel-../../x.traceg\nkernel-a/../1.traceg\n");
    struct store *s = testing_import(&read_accelsim, testing_file("outside/kernelslist.g"), true);
    ck_assert_int_eq(counted(s, "skipped", "kernel trace outside of the list's folder"), 2);
    ck_assert(store_complete(s));
    store_close(s);
}
END_TEST

/* Vector add of 4,096 floats: 128 warps read A and B and write C; A and half of B are named. */
START_TEST(accesses_outside_of_the_named_memory_are_counted)
{
    (void)make_set(testing_file("extent"), "kernelslist.g",
                   "MemcpyHtoD,0x00007f0000000000,16384\nMemcpyHtoD,0x00007f0000040000,8192\n");
    struct reader_context context = {.store = store_create_temporary(":memory:", &testing_err),
                                     .path = testing_file("extent")};
    char *options = calloc(1, read_accelsim.options_size);
    ck_assert_int_eq(param_set(read_accelsim.options, options, "kernel", "1", &testing_err), 0);
    context.options = options;
    ck_assert_int_eq(reader_run(&read_accelsim, &context, NULL, &testing_err), 0);
    ck_assert_str_eq(store_origin_get(context.store, "accesses.outside_known_memory"), "6144 of 12288 (50.0 %)");
    ck_assert_str_eq(store_origin_get(context.store, "accesses.addresses"), "0x7f0000000000 to 0x7f0000083ffc");
    store_close(context.store);
    free(options);
}
END_TEST

TEST_MAIN("accelsim")
