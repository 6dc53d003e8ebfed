#include "trace/import/testing_access.h"
#include "trace/store/testing_facts.h"

#define AT(op, warp)                                                                                                   \
    "\"cta\":[1,1,0],\"grid_launch_id\":3,\"opcode_id\":" #op ",\"type\":\"mem_addr_trace\",\"warp\":" #warp "}\n"
static const char traced[] =
    "{\"block\":[64,1,1],\"func_addr\":\"0x1\",\"grid\":[4,2,1],\"instructions\":{\"1\":{\"sass\":\"@!P0 LDG.E.64 R2, "
    "[R4] ;\"},\"2\":{\"sass\":\"LDS R1, [R2] ;\"}},\"type\":\"kernel_metadata\",\"unmangled_name\":\"f(int)\"}\n"
    "{\"addrs\":[139637977776128,0,139637977776144]," AT(1, 1) "{\"addrs\":[16]," AT(
        2, 1) "{\"type\":\"reg_trace\"}\n{\"addrs\":[16]," AT(9, 1) "{\"addrs\":4," AT(1,
                                                                                       1) "no JSON\n"
                                                                                          "{\"sass\":\"STG.E [R2], R1 "
                                                                                          ";\",\"addrs\":["
                                                                                          "139637977776128]," AT(9, 2);

START_TEST(accesses_are_what_the_first_line_says_of_their_opcode)
{
    const char *path = testing_write("cutracer.ndjson", traced, strlen(traced));
    ck_assert_int_eq(read_cutracer.probe(path, (const unsigned char *)traced, strlen(traced)), PROBE_YES);
    struct store *store = testing_import(&read_cutracer, path, true);
    struct testing_accesses a = testing_read_accesses(store);
    ck_assert_int_eq(a.n, 2);
    ck_assert_int_eq(a.ends, 1);
    ck_assert_uint_eq(testing_context.skips.total, 4);
    ck_assert(a.records[0].addr == 139637977776128 && a.records[0].bytes == 8);
    ck_assert_uint_eq(a.records[0].flags, 1 | RECORD_READ << 4);
    ck_assert_uint_eq(a.records[0].id, 5ull << 32 | 1); /* block 1 + 4 * 1 */
    ck_assert_uint_eq(a.records[1].flags, 1 | RECORD_WRITE << 4);
    char *text = testing_trace_text(store);
    ck_assert_ptr_nonnull(strstr(text, "f(int)"));
    free(text);
    testing_release(&a, store);
}
END_TEST

START_TEST(without_the_first_line_nobody_knows_what_reads)
{
    const char *text = "{\"addrs\":[16]," AT(9, 1);
    const char *path = testing_write("cutracer.ndjson", text, strlen(text));
    store_close(testing_import(&read_cutracer, path, false));
    ck_assert_msg(strstr(testing_err.msg, "1 left out: access of an instruction that no line describes"), "%s",
                  testing_err.msg);
}
END_TEST

TEST_MAIN("cutracer")
