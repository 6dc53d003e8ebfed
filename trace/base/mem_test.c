#include "trace/base/mem.h"

#include <stdint.h>

#include "trace/base/testing.h"

START_TEST(grow_keeps_content_and_doubles)
{
    int *a = NULL;
    size_t cap = 0;
    WORKS(mem_grow((void **)&a, &cap, 1, sizeof *a, &err));
    ck_assert_uint_ge(cap, 1);
    a[0] = 42;
    size_t before = cap;
    WORKS(mem_grow((void **)&a, &cap, cap + 1, sizeof *a, &err));
    ck_assert_uint_ge(cap, before * 2);
    ck_assert_int_eq(a[0], 42);
    free(a);
}
END_TEST

/* Around the size from which the system is asked for large pages. */
START_TEST(large_arrays_are_zero_and_keep_what_is_in_them)
{
    uint32_t *array = NULL;
    size_t cap = 0;
    for (size_t n = 1; n < 3 << 20; n = n * 3 + 1) {
        const size_t had = cap;
        ck_assert_int_eq(mem_grow((void **)&array, &cap, n, sizeof *array, NULL), 0);
        for (size_t i = had; i < cap; i++)
            array[i] = (uint32_t)i * 7;
    }
    size_t same = 0; /* counted: a ck_assert() for each takes seconds */
    for (size_t i = 0; i < cap; i++)
        same += array[i] == (uint32_t)i * 7;
    ck_assert_uint_eq(same, cap);
    free(array);
    for (size_t bytes = (4 << 20) - 1; bytes <= (4 << 20) + 1; bytes++) {
        unsigned char *p = mem_zalloc(bytes, 1, NULL), any = 0;
        for (size_t i = 0; i < bytes; i++)
            any |= p[i];
        ck_assert_uint_eq(any, 0);
        memset(p, 1, bytes);
        free(p);
    }
}
END_TEST

/* The value may name what grows: it is taken before the count goes on. */
START_TEST(elements_are_appended_and_texts_kept)
{
    struct pair {
        size_t number, twice;
    } *pairs = NULL;
    size_t count = 0, cap = 0;
    struct mem_texts texts = {0};
    for (size_t i = 0; i < 100; i++) {
        const char *text = testing_text("%zu", i);
        ck_assert_int_eq(MEM_ADD(pairs, count, cap, NULL, (struct pair){count, 2 * i}), 0);
        ck_assert_str_eq(i % 2 ? mem_keep(&texts, text, NULL) : mem_keep_own(&texts, mem_strdup(text, NULL), NULL),
                         text);
    }
    ck_assert_uint_eq(count, 100);
    ck_assert_uint_eq(texts.count, 100);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(pairs[i].number, i);
        ck_assert_uint_eq(pairs[i].twice, 2 * i);
        ck_assert_int_eq(atoi(texts.items[i]), (int)i);
    }
    ck_assert_ptr_null(mem_keep_own(&texts, NULL, NULL));
    mem_texts_release(&texts);
    ck_assert_uint_eq(texts.count, 0);
    mem_free_texts(NULL, 3);
    free(pairs);
}
END_TEST

START_TEST(a_text_is_written_behind_another_as_far_as_there_is_room)
{
    char buf[8] = "ab";
    ck_assert_str_eq(mem_add_text(buf, sizeof buf, "%d", 34), "ab34");
    ck_assert_str_eq(mem_add_text(buf, sizeof buf, "%s", "56789"), "ab34567");
    ck_assert_str_eq(mem_add_text(buf, sizeof buf, "x"), "ab34567");
}
END_TEST

START_TEST(overflowing_sizes_are_errors)
{
    struct err err = {""};
    ck_assert_ptr_null(mem_zalloc(SIZE_MAX / 2, 4, &err));
    ck_assert_str_ne(err.msg, "");
    void *a = NULL;
    size_t cap = 0;
    ck_assert_int_eq(mem_grow(&a, &cap, SIZE_MAX / 4, 8, &err), -1);
    ck_assert_ptr_null(a);
    ck_assert_uint_eq(cap, 0);
}
END_TEST

/* Two arrays of three quarters of the memory would both be given, and ended when they are filled. */
START_TEST(more_than_there_is_is_refused_before_it_is_filled)
{
    const uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    WORKS(mem_room(4096, &err));
    FAILS_WITH(mem_room(all + 4096, &err), "MiB are needed");
    GIVES_NONE(mem_zalloc(all / 4096 + 1, 4096, &err), "");
}
END_TEST

START_TEST(strings_are_copied)
{
    char *s = GIVES(mem_strndup("bicg kernel", 4, &err));
    ck_assert_str_eq(s, "bicg");
    free(s);
    s = GIVES(mem_strdup("", &err));
    ck_assert_str_eq(s, "");
    free(s);
}
END_TEST

TEST_MAIN("mem")
