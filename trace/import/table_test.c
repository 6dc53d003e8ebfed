#include "trace/base/param_value.h"
#include "trace/import/testing_dram.h"

/* Tables of the forms that the profilers print, of one process and one GPU. */
static const char nvprof_csv[] =
    "==42== NVPROF is profiling process 42, command: ./app\n==42== Profiling result:\n"
    "\"Start\",\"Duration\",\"Grid X\",\"Size\",\"Device\",\"Unified Memory\",\"Virtual Address\",\"Name\"\n"
    "ms,us,,MB,,,,\n"
    "400.0,,,,,\"PC 0x401000\",\"0x7f0000000000\",\"[Unified Memory CPU page faults]\"\n"
    "401.0,25.0,,,\"Tesla T4 (1)\",\"0.250000\",\"0x7f0000000000\",\"[Unified Memory Memcpy HtoD]\"\n"
    "402.0,200.0,64,,\"Tesla T4 (1)\",,,\"f(int, int) [1]\"\n"
    "402.1,180.0,,,\"Tesla T4 (1)\",\"2\",\"0x7f0000040000\",\"[Unified Memory GPU page faults]\"\n"
    "403.0,1.0,,0.5,\"Tesla T4 (1)\",,,\"[CUDA memcpy DtoH]\"\n"
    "404.0,1.0,,0.5,\"Tesla T4 (1)\",,,\"[CUDA memset]\"\n";
static const char nvprof_text[] =
    "==42== Profiling result:\n"
    "   Start  Duration            Grid Size           Device        Unified Memory  Virtual Address  Name\n"
    "400.00ms         -                    -                -           PC 0x401000   0x7f0000000000  [Unified Memory "
    "CPU page "
    "faults]\n"
    "401.00ms  25.000us                    -     Tesla T4 (1)          256.000000KB   0x7f0000000000  [Unified Memory "
    "Memcpy HtoD]\n"
    "402.00ms  200.00us             (64 1 1)     Tesla T4 (1)                     -                -  f(int, int) [1]\n"
    "402.10ms  180.00us                    -     Tesla T4 (1)                     2   0x7f0000040000  [Unified Memory "
    "GPU "
    "page faults]\n\nRegs: Number of registers used per CUDA thread.\n";

static char options[256];

static int read_with(const char *text, const char *const *pairs)
{
    ck_assert_uint_le(read_table.options_size, sizeof options);
    param_defaults(read_table.options, options);
    for (; *pairs; pairs += 2)
        WORKS(param_set(read_table.options, options, pairs[0], pairs[1], &err));
    return dram_read_text(&read_table, text, options, false);
}
#define READ(text, ...) read_with(text, (const char *const[]){__VA_ARGS__, NULL})

static void look_at_nvprof(const char *input, size_t records)
{
    ck_assert_int_eq(dram_probe_text(&read_table, input), PROBE_YES);
    ck_assert_msg(dram_read_text(&read_table, input, NULL, false) == 0, "%s", dram_got_err.msg);
    ck_assert_uint_eq(dram_got_count, records);
    const struct record *r = dram_got;
    ck_assert(r[0].kind == RECORD_CPU_FAULT && r[0].id == 0x401000 && r[0].bytes == 0 && r[0].time == 400000000);
    ck_assert(r[1].kind == RECORD_MIGRATE_H2D && r[1].bytes == 262144 && r[1].duration == 25000 &&
              r[1].addr == 0x7f0000000000);
    ck_assert(r[2].kind == RECORD_KERNEL && r[2].duration == 200000);
    ck_assert(r[3].kind == RECORD_FAULT && r[3].bytes == 2 && r[3].addr == 0x7f0000040000);
    ck_assert_str_eq(dram_got_stream.extra[0], "process_id");
    ck_assert_str_eq(dram_got_note, ""); /* what stands below the table changes nothing */
}

START_TEST(nvprofs_tables_are_read_as_csv_and_as_text)
{
    look_at_nvprof(nvprof_csv, 5);
    ck_assert(dram_got[4].kind == RECORD_COPY && dram_got[4].flags == RECORD_COPY_D2H && dram_got[4].bytes == 524288);
    ck_assert_uint_eq(dram_got_skips, 1); /* the memset */
    look_at_nvprof(nvprof_text, 4);
}
END_TEST

START_TEST(a_table_without_addresses_keeps_what_needs_none)
{
    static const char nsys[] = " ** CUDA GPU Trace (cuda_gpu_trace):\n\n"
                               "Start (ns),Duration (ns),CorrId,GrdX,Bytes (MB),Device,Strm,Name\n"
                               "400,25,1,,0.262,\"GPU X, 80GB (0)\",13,[CUDA memcpy Host-to-Device]\n"
                               "401,22,,,2.097,GPU X (0),7,[CUDA Unified Memory memcpy Host-to-Device]\n"
                               "402,20,2,64,,GPU X (0),7,\"f(int *, int *)\"\n";
    ck_assert_int_eq(dram_probe_text(&read_table, nsys), PROBE_YES);
    ck_assert_msg(dram_read_text(&read_table, nsys, NULL, false) == 0, "%s", dram_got_err.msg);
    ck_assert_uint_eq(dram_got_count, 2);
    ck_assert_ptr_nonnull(strstr(dram_got_note, "no addresses are in it"));
    ck_assert(dram_got[0].kind == RECORD_COPY && dram_got[0].bytes == 262144 && dram_got[0].time == 400);
    ck_assert_uint_eq(dram_got[1].kind, RECORD_KERNEL);
    ck_assert_int_eq(dram_read_text(&read_table, nsys, NULL, true), -1); /* --strict */
    ck_assert_int_eq(dram_probe_text(&read_table, "Start (ns),Duration (ns),Name,Result,CorrID\n"), PROBE_NO);
    ck_assert_int_eq(dram_read_text(&read_table, "a,b\n", NULL, false), -1);
    ck_assert_int_eq(dram_read_text(&read_table,
                                    "Start (ns)  Duration (ns)  Device  Name\n---------  -------  ----  ----\n", NULL,
                                    false),
                     -1);
    ck_assert_ptr_nonnull(strstr(dram_got_err.msg, "line 2: a table whose empty cells are blanks"));
}
END_TEST

START_TEST(words_of_any_length_stand_for_kinds_and_others_are_left_out)
{
    ck_assert_int_eq(
        READ("t,a,b,what\n1,0x10,4096,[Unified Memory GPU page faults]\n2,3,4,axpy(float*)\n3,0x20,1,FAULT\n",
             "columns", "time=t,addr=a,kind=what,bytes=b", "kinds", "[Unified Memory GPU page faults]=FAULT"),
        0);
    ck_assert_uint_eq(dram_got_count, 2);
    ck_assert_uint_eq(dram_got_skips, 1);
    ck_assert(dram_got[0].kind == RECORD_FAULT && dram_got[0].bytes == 4096);
    ck_assert_int_eq(
        READ("t,op,b\n1,Memcpy DtoH (x),8\n2,Memset,1\n", "columns", "time=t,kind=op,bytes=b", "kinds", "Memcpy*=COPY"),
        0);
    ck_assert(dram_got_count == 1 && dram_got[0].flags == RECORD_COPY_D2H && dram_got[0].bytes == 8);
    ck_assert_int_eq(READ("t,op\n1,k(int)\n2,[memset]\n", "columns", "time=t,kind=op,name=op", "kinds", "*=KERNEL"), 0);
    ck_assert_uint_eq(dram_got_count, 1);
}
END_TEST

START_TEST(every_separator_and_no_header)
{
    static const char *const rows[] = {"t,a\n5,0x10\n", "t;a\n5;0x10\n", "t\ta\n5\t0x10\n", "t a\n5 0x10\n"};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(READ(rows[i], "columns", "time=t,addr=a", "kinds", "PIM", "bytes", "32"), 0);
        ck_assert(dram_got_count == 1 && dram_got[0].time == 5 && dram_got[0].addr == 16 && dram_got[0].bytes == 32);
    }
    ck_assert_int_eq(
        READ("0, 140, -1, 150\n1, -1, 7,\n", "columns", "addr=2..,time=1", "kinds", "DRAM_READ", "time_unit", "cycles"),
        0);
    ck_assert_uint_eq(dram_got_count, 3);
    ck_assert(dram_got[1].addr == 150 && dram_got[2].addr == 7 && dram_got[2].time == 1);
    ck_assert_int_eq(dram_got_stream.unit, TIME_CYCLES);
    ck_assert_int_eq(READ("", "columns", "time=1,addr=2", "kinds", "PIM"), 0); /* nothing is in it, and that is all */
}
END_TEST

START_TEST(what_makes_no_sense_is_refused)
{
    static const struct {
        const char *columns, *kinds, *text, *said;
    } cases[] = {{"time", "PIM", "t\n1\n", "expected OURS=THEIRS"},
                 {"[]", "PIM", "t\n1\n", "0 names"},
                 {"colour=t", "PIM", "t\n1\n", "unknown column 'colour'"},
                 {"time=x", "PIM", "t\n1\n", "no column 'x'"},
                 {"time=t", "PIM", "", "no header row"},
                 {"time=t", "R=READ", "t\n1\n", "'READ' is no record kind"},
                 {"time=t", "R", "t\n1\n", "expected THEIRS=KIND"},
                 {"time=t", "a=PIM", "t\n1\n", "no column is the kind"},
                 {"time=t", "PIM", "t\nx\n", "line 2, column time: 'x'"},
                 {"time=t,addr=a", "PIM", "t,a\n1,zz\n", "line 2, column addr: 'zz'"},
                 {"time=t,addr=a", "PIM", "t,a\n1\n", "fewer fields"},
                 {"time=t,bytes=a", "PIM", "t;a\n1;0,5\n", "line 2, column bytes: '0,5'"},
                 {"time=1,addr=5", "PIM", "1,2\n", "no column '5', which option"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(READ(cases[i].text, "columns", cases[i].columns, "kinds", cases[i].kinds), -1);
        ck_assert_msg(strstr(dram_got_err.msg, cases[i].said) != NULL, "%s", dram_got_err.msg);
    }
}
END_TEST

TEST_MAIN("table")
