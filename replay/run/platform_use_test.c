#include "replay/run/platform_use.h"

#include "models/base/platform.h"
#include "replay/run/engine.h"
#include "trace/base/param.h"
#include "trace/base/testing.h"

static const char *const gpu[] = {"gpu", NULL}, *const both[] = {"pcie", "gpu", NULL};

static size_t rows(const char *const *sections)
{
    size_t n = 0;
    for (; *sections; sections++)
        for (size_t s = 0; platform_sections[s]; s++)
            for (const struct param *row = platform_sections[s]->params; row->name; row++)
                n += strcmp(platform_sections[s]->name, *sections) == 0;
    return n;
}

START_TEST(numbers_are_counted_by_what_they_rest_on)
{
    struct platform *p = GIVES(platform_load("titanv", &err));
    struct platform_use use, then;
    platform_use_count(p, gpu, &use);
    ck_assert_uint_eq(use.numbers, rows(gpu));
    ck_assert_uint_eq(use.kinds[PLATFORM_SOURCED] + use.kinds[PLATFORM_ASSUMED] + use.kinds[PLATFORM_FITTED] +
                          use.kinds[PLATFORM_AS],
                      use.numbers);
    ck_assert_uint_ge(use.kinds[PLATFORM_ASSUMED], 1); /* l2_ways, a general default */
    ck_assert_uint_eq(use.kinds[PLATFORM_AS], 1);      /* memory_ns */
    ck_assert_uint_eq(use.given, 0);
    WORKS(platform_set(p, "memory_ns", "300", NULL, &err));
    platform_use_count(p, gpu, &then);
    ck_assert_uint_eq(then.kinds[PLATFORM_AS], 0);
    ck_assert_uint_eq(then.kinds[PLATFORM_SOURCED], use.kinds[PLATFORM_SOURCED] + 1);
    ck_assert_uint_eq(then.given, 1);
    platform_use_count(p, both, &then);
    ck_assert_uint_eq(then.numbers, rows(both));
    platform_free(p);
}
END_TEST

START_TEST(each_section_in_use_must_be_whole)
{
    struct platform *p = GIVES(platform_load("tx2", &err));
    WORKS(platform_use_check(p, gpu, &err));
    FAILS_WITH(platform_use_check(p, both, &err), "platform tx2 has no [pcie]");
    platform_free(p);
}
END_TEST

START_TEST(a_head_is_told_from_other_notes)
{
    ck_assert(
        platform_use_is_head("platform x (shipped): 3 numbers of [gpu], 1 known, 1 assumed, 1 fitted, 0 borrowed"));
    ck_assert(!platform_use_is_head("platform x has no [gpu]"));
    ck_assert(!platform_use_is_head("[gpu] is borrowed from v100; its times may be 1 to 2 times as long here: why"));
}
END_TEST

/* The CPU's times of a borrowed section have a range of their own, until the host's number is given. */
START_TEST(a_borrowed_section_says_how_far_its_host_goes)
{
    static const char *const uvm[] = {"uvm", NULL};
    struct platform *p = GIVES(platform_load("rtx3090", &err));
    const struct platform_number *n = platform_number(p, "uvm", "host");
    const struct replay_result result = {.platform = p, .sections = uvm, .choice = {.how = PLATFORM_CHOICE_GIVEN}};
    char says[80];
    for (int given = 0; given < 2; given++) {
        struct outcome run = {0};
        (void)snprintf(says, sizeof says, "times as long here, with host another %g to %g: ", n->low, n->high);
        platform_use_note(&result, &run);
        ck_assert_uint_eq(run.note_count, 2);
        ck_assert_msg(strstr(run.notes[1], given ? "times as long here: " : says) != NULL, "%s", run.notes[1]);
        outcome_release(&run);
        WORKS(platform_set(p, "host", "0.4", NULL, &err));
    }
    platform_free(p);
}
END_TEST

TEST_MAIN("platform_use")
