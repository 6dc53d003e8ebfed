#include "trace/recorder/advice_plan.h"

#include "trace/base/testing.h"

static struct err err;

static char *read_text(const char *text)
{
    return advice_plan_read(testing_write("plan.ini", text, strlen(text)), &err);
}

START_TEST(a_plan_is_one_line_for_each_allocation_and_kernel)
{
    char *text = read_text("[plan]\nversion = 1\npredicted_time_ns = 5\n[allocation 0]\nbytes = 4096\nadvise = "
                           "read-mostly, accessed-by-gpu\nprefetch = gpu\n[allocation 7]\nadvise = preferred-cpu\n"
                           "bytes = 8192\nsite = app+0x11a9:make, libc.so.6+0x271c9\n[kernel _Z3fooPf]\nprefetch = 0, "
                           "7\n[kernel bar]\nlaunch = 2\nprefetch=7\n[allocation 8]\nbytes = 64\n[kernel * 0]\n"
                           "advise = 0, 7\nback = 8\n");
    ck_assert_msg(text, "%s", err.msg);
    ck_assert_str_eq(text,
                     "A 0 4096 1:g,5:g g -\nA 7 8192 3:c - app+0x11a9,libc.so.6+0x271c9\nK -1 _Z3fooPf 0,7 - -\nK "
                     "2 bar 7 - -\nA 8 64 - - -\nK 0 * - 0,7 8\n");
    free(text);
}
END_TEST

START_TEST(what_is_no_plan_is_refused_with_its_place)
{
    static const struct {
        const char *text, *words;
    } bad[] = {{"[plan]\nversion = 2\n", "version 2"},
               {"[allocation 0]\nbytes = 4\nadvise = read-mostly\n", "version = 1"},
               {"[plan]\nversion = 1\n", "nothing to do"},
               {"[plan]\nversion = 1\n[allocation 0]\nadvise = read-mostly\n", "no bytes"},
               {"[plan]\nversion = 1\n[allocation 0]\nbytes = 4\n", "nothing to do"},
               {"[plan]\nversion = 1\n[allocation 0]\nbytes = 4\nadvise = unset-read-mostly\n", "unset-read-mostly"},
               {"[plan]\nversion = 1\n[allocation x]\nbytes = 4\n", "expected a number"},
               {"[plan]\nversion = 1\n[allocation 0]\nbytes = -4\n", "expected a number"},
               {"[plan]\nversion = 1\n[allocation 0]\nbytes = 4\nprefetch = disk\n", "gpu or cpu"},
               {"[plan]\nversion = 1\n[kernel k]\nlaunch = 1\n", "no prefetch"},
               {"[plan]\nversion = 1\n[allocation 0]\nbytes = 4\nsite = main\n", "MODULE+0xOFFSET"},
               {"[plan]\nversion = 1\n[allocation 0]\nbytes = 4\nsite = a+0x12G\n", "MODULE+0xOFFSET"},
               {"[plan]\nversion = 1\n[allocation 0]\nbytes = 4\nsite = a+0x\n", "MODULE+0xOFFSET"},
               {"[plan]\nversion = 1\n[allocation 0]\nbytes = 4\nsite = ,\n", "no call site"},
               {"[plan]\nversion = 1\n[kernel k]\nfree = 1\n", "no key 'free'"},
               {"[plan]\nversion = 1\n[kernel k x]\n", "expected a number"},
               {"[plan]\nversion = 1\n[stream 0]\n", "[allocation N]"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_ptr_null(read_text(bad[i].text));
        ck_assert_msg(strstr(err.msg, bad[i].words), "%s", err.msg);
        ck_assert_msg(strstr(err.msg, "plan.ini"), "%s", err.msg);
    }
    ck_assert_ptr_null(advice_plan_read("/nonexistent/plan.ini", &err));
}
END_TEST

TEST_MAIN("advice_plan")
