#include "replay/run/engine.h"

#include "trace/base/param.h"
#include "trace/base/testing.h"

struct capped {
    int64_t cap, unit;
};
static const struct param capped_params[] = {PARAM_INT_ROW(capped, cap, "cycles", 1, 1000, 256, "cap"),
                                             PARAM_CHOICE_ROW(capped, unit, "cycles|requests", 0, "what is counted"),
                                             {0}};
static const struct policy_head fcfs = {.name = "fcfs", .summary = "", .source = ""};
static const struct policy_head f3fs = {
    .name = "f3fs", .summary = "", .source = "", .params = capped_params, .state_size = sizeof(struct capped)};
static const struct policy_head *const heads[] = {&fcfs, &f3fs, NULL};
static const struct policy_head even = {.name = "even", .summary = "", .source = ""};
static const struct policy_head odd = {
    .name = "odd", .summary = "", .source = "", .params = capped_params, .state_size = sizeof(struct capped)};
static const struct policy_head base = {.name = "base", .summary = "", .source = "", .baseline = true};
static const struct policy_head *const firsts[] = {&fcfs, &f3fs, &base, NULL}, *const seconds[] = {&even, &odd, NULL};
static const struct engine two_axes = {.name = "x", .policies = firsts, .second = seconds, .second_key = "turn"};
static const struct engine engine = {.name = "dram", .policies = heads};

static size_t parse(const char *text, struct policy_list *list, struct err *err)
{
    memset(list, 0, sizeof *list);
    return policy_list_add(list, &engine, text, err) ? 0 : list->count;
}

START_TEST(tokens_with_equals_belong_to_the_policy_before)
{
    struct policy_list list;
    struct err err = {""};
    ck_assert_msg(parse("fcfs,f3fs:cap=128,unit=requests,f3fs:cap=64,fcfs", &list, &err) == 4, "%s", err.msg);
    char buf[128];
    ck_assert_str_eq(replay_policy_label(&list.policies[0], buf, sizeof buf), "fcfs");
    ck_assert_str_eq(replay_policy_label(&list.policies[1], buf, sizeof buf), "f3fs:cap=128,unit=requests");
    ck_assert_str_eq(replay_policy_label(&list.policies[2], buf, sizeof buf), "f3fs:cap=64");
    ck_assert(replay_policy_same(&list.policies[0], &list.policies[3]));
    ck_assert(!replay_policy_same(&list.policies[1], &list.policies[2]));
    policy_list_release(&list);
}
END_TEST

START_TEST(defaults_are_not_part_of_the_label)
{
    struct policy_list list;
    RETURNS(parse("f3fs:cap=256", &list, &err), 1);
    char buf[128];
    ck_assert_str_eq(replay_policy_label(&list.policies[0], buf, sizeof buf), "f3fs");
    policy_list_release(&list);
}
END_TEST

START_TEST(wrong_lists_are_refused_with_the_item)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"", "empty item"},
               {"fcfs,,f3fs", "empty item"},
               {"cap=3", "no policy stands before"},
               {"bliss", "expected fcfs"},
               {"f3fs:cap=0", "1 to 1000"},
               {"f3fs:cap", "KEY=VALUE"},
               {"fcfs:cap=1", "not a known"},
               {"f3fs:unit=ns", "cycles|requests"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct policy_list list;
        struct err err = {""};
        ck_assert_uint_eq(parse(bad[i].text, &list, &err), 0);
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "'%s' gave: %s", bad[i].text, err.msg);
        policy_list_release(&list);
    }
}
END_TEST

static int parse_two(const char *text, struct policy_list *list, struct err *err)
{
    memset(list, 0, sizeof *list);
    return policy_list_add(list, &two_axes, text, err);
}

START_TEST(a_plus_and_a_second_name_join_two_policies)
{
    struct policy_list list;
    char buf[128];
    WORKS(parse_two("fcfs,fcfs+even,f3fs:cap=7,unit=requests+odd:cap=3,unit=requests,f3fs+odd,turn.cap=9,cap=8", &list,
                    &err));
    ck_assert_uint_eq(list.count, 4);
    ck_assert_ptr_null(list.policies[0].second);
    ck_assert_str_eq(replay_policy_label(&list.policies[1], buf, sizeof buf), "fcfs+even");
    ck_assert_str_eq(replay_policy_label(&list.policies[3], buf, sizeof buf), "f3fs+odd:cap=8");
    policy_list_release(&list);
}
END_TEST

START_TEST(later_parameters_belong_to_the_half_written_last)
{
    struct policy_list list;
    char buf[128];
    WORKS(parse_two("f3fs:cap=7,unit=requests+odd:cap=3,unit=requests", &list, &err));
    ck_assert_str_eq(replay_policy_label(&list.policies[0], buf, sizeof buf),
                     "f3fs:cap=7,unit=requests+odd:cap=3,unit=requests");
    ck_assert_str_eq(replay_policy_name(&list.policies[0], buf, sizeof buf), "f3fs+odd");
    WORKS(replay_policy_set(&list.policies[0], "turn.cap", "5", &err));
    WORKS(replay_policy_set(&list.policies[0], "cap", "6", &err));
    ck_assert_str_eq(replay_policy_label(&list.policies[0], buf, sizeof buf),
                     "f3fs:cap=6,unit=requests+odd:cap=5,unit=requests");
    json_t *params = replay_policy_params_json(&list.policies[0]);
    ck_assert_int_eq(json_integer_value(json_object_get(params, "cap")), 6);
    ck_assert_int_eq(json_integer_value(json_object_get(params, "turn.cap")), 5);
    ck_assert_uint_eq(json_object_size(params), 4);
    json_decref(params);
    policy_list_release(&list);
}
END_TEST

START_TEST(wrong_joins_are_refused)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"fcfs+nought", "no policy 'nought' after a '+'; expected even, odd"},
               {"+even", "stands alone"},
               {"fcfs+even+odd", "one too many"},
               {"f3fs+odd:cap=3,unit=requests+even", "one too many"},
               {"fcfs,+even", "stands alone"},
               {"base+even", "baseline base"},
               {"fcfs+even:cap=1", "not a known"},
               {"fcfs+odd:turn.x=1", "not a known"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct policy_list list;
        struct err err = {""};
        ck_assert_msg(parse_two(bad[i].text, &list, &err), "'%s' was taken", bad[i].text);
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "'%s' gave: %s", bad[i].text, err.msg);
        policy_list_release(&list);
    }
    struct policy_list list;
    struct err err = {""};
    ck_assert_uint_eq(parse("fcfs+even", &list, &err), 0); /* an engine of one axis */
    ck_assert_ptr_nonnull(strstr(err.msg, "expected fcfs"));
    policy_list_release(&list);
}
END_TEST

/* What the list takes for a file shows in the error of a file that is not there. */
START_TEST(a_file_may_stand_in_either_half_and_have_a_plus_in_its_name)
{
    static const struct {
        const char *text, *says;
    } files[] = {{"./a.so", "cannot open './a.so'"},
                 {"/no/c++/a.so:cap=3,fcfs", "cannot open '/no/c++/a.so'"},
                 {"fcfs+/no/c++/b.so", "cannot open '/no/c++/b.so'"},
                 {"f3fs:cap=3+./b.so:unit=1", "cannot open './b.so'"},
                 {"f3fs:cap=3,unit=cycles+b.so", "cannot open 'b.so'"},
                 {"./a.so+even", "cannot open './a.so'"},
                 {"fcfs+./b.so+even", "is one too many"},
                 {"base+./b.so", "cannot be joined to the baseline base"},
                 {".so", "has no policy '.so'"}};
    const struct engine own = {.name = "x",
                               .policies = firsts,
                               .second = seconds,
                               .second_key = "turn",
                               .plugin_interface = POLICY_UVM_PREFETCH,
                               .second_plugin_interface = POLICY_UVM_EVICT};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct policy_list list = {0};
        struct err err = {""};
        ck_assert_int_eq(policy_list_add(&list, &own, files[i].text, &err), -1);
        ck_assert_msg(strstr(err.msg, files[i].says) != NULL, "'%s' gave: %s", files[i].text, err.msg);
        policy_list_release(&list);
    }
    struct policy_list list = {0};
    struct err err = {""};
    ck_assert_int_eq(policy_list_add(&list, &engine, "./a.so", &err), -1); /* an engine that takes none */
    ck_assert_msg(strstr(err.msg, "expected fcfs") != NULL, "%s", err.msg);
    policy_list_release(&list);
}
END_TEST

TEST_MAIN("policy_list")
