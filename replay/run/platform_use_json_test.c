#include "replay/run/platform_use.h"

#include "trace/base/json_tree.h"
#include "trace/base/param.h"
#include "trace/base/testing.h"

static struct platform *load(const char *text)
{
    return GIVES(platform_load(testing_write("x.ini", text, strlen(text)), &err));
}

static const json_t *number(const json_t *list, const char *section, const char *key)
{
    const json_t *n = json_object_get(json_object_get(json_object_get(list, "sections"), section), key);
    ck_assert_msg(n != NULL, "%s.%s", section, key);
    return n;
}

static const char *text(const json_t *number, const char *field)
{
    return json_string_value(json_object_get(number, field));
}

START_TEST(a_list_holds_what_is_stated_with_what_it_rests_on)
{
    struct platform *p =
        load("[platform]\nname = mine\nsummary = one\n[gpu]\nsms = 66 | sheet\nl2_bytes = 4MiB | assumed "
             "1MiB..8MiB: a guess\nmemory_ns = 300 | as v100 200..400: like it\n[dram]\nmap = ch:3 | "
             "assumed: linear\n[uvm]\nas = titanv | 0.5..2: another host\n");
    json_t *list = GIVES(platform_json_list(p));
    ck_assert_str_eq(text(list, "name"), "mine");
    ck_assert_str_eq(text(list, "summary"), "one");
    ck_assert_uint_eq(json_object_size(list), 3);
    ck_assert_uint_eq(json_object_size(json_object_get(list, "sections")), 3);
    const json_t *n = number(list, "gpu", "sms");
    ck_assert_uint_eq(json_object_size(n), 6);
    ck_assert_str_eq(text(n, "kind"), "sourced");
    ck_assert_str_eq(text(n, "source"), "sheet");
    ck_assert(json_is_integer(json_object_get(n, "value")) && json_integer_value(json_object_get(n, "low")) == 66);
    n = number(list, "gpu", "l2_bytes");
    ck_assert_str_eq(text(n, "kind"), "assumed");
    ck_assert_str_eq(text(n, "unit"), "bytes");
    ck_assert_int_eq(json_integer_value(json_object_get(n, "high")), 8 << 20);
    n = number(list, "gpu", "memory_ns");
    ck_assert_str_eq(text(n, "kind"), "as");
    ck_assert_str_eq(text(n, "source"), "v100: like it");
    ck_assert_str_eq(text(number(list, "gpu", "l2_ways"), "source"),
                     "general default: NVIDIA does not say; Accel-Sim's configurations take 16 to 32");
    ck_assert_ptr_null(
        json_object_get(json_object_get(json_object_get(list, "sections"), "gpu"), "warps_per_sm")); /* not stated */
    n = number(list, "dram", "map");
    ck_assert_str_eq(text(n, "value"), "ch:3");
    ck_assert(json_is_null(json_object_get(n, "low")) && json_is_null(json_object_get(n, "high")));
    n = number(list, "uvm", "utlb");
    ck_assert_str_eq(text(n, "value"), "free");
    ck_assert_str_eq(text(n, "low"), "blocked");
    n = number(list, "uvm", "service_ns");
    ck_assert_double_eq(json_real_value(json_object_get(n, "high")), 26000);
    ck_assert_ptr_nonnull(strstr(text(n, "source"), "titanv, with [uvm] times 0.5..2 (another host): "));
    json_decref(list);
    platform_free(p);
}
END_TEST

/* A case holds every number, as before: what is not stated too. */
START_TEST(all_numbers_are_there_by_their_whole_name)
{
    struct platform *p = load("[gpu]\nsms = 66 | sheet\n");
    json_t *numbers = platform_json_numbers(p);
    size_t rows = 0;
    for (size_t s = 0; platform_sections[s]; s++)
        for (const struct param *row = platform_sections[s]->params; row->name; row++)
            rows++;
    ck_assert_uint_eq(json_object_size(numbers), rows);
    ck_assert_int_eq(json_integer_value(json_object_get(numbers, "gpu.sms")), 66);
    json_decref(numbers);
    platform_free(p);
}
END_TEST

START_TEST(every_shipped_platform_is_a_whole_list)
{
    char name[64];
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct err err = {""};
        struct platform *p = platform_load(name, &err);
        json_t *list = platform_json_list(p);
        ck_assert_msg(json_tree_check(list, &err) == 0, "%s: %s", name, err.msg);
        json_decref(list);
        platform_free(p);
    }
}
END_TEST

TEST_MAIN("platform_json")
