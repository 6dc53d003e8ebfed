#include "trace/recorder/wire/record_pipe.h"

#include <malloc.h>

#include "trace/base/testing.h"

static struct record_pipe_message fragment(uint64_t id, uint32_t offset, uint32_t total, const char *text)
{
    struct record_pipe_message m = {.type = RECORD_PIPE_TEXT, .id = id};
    m.text_offset = offset;
    m.text_total = total;
    size_t n = strlen(text);
    memcpy(m.text, text, n < sizeof m.text ? n : sizeof m.text);
    return m;
}

START_TEST(a_text_longer_than_a_message_comes_back_whole)
{
    const char *name = "_Z30a_kernel_with_a_rather_long_namePKfPfi_and_some_more_of_it";
    struct record_pipe_texts texts = {0};
    struct err err;
    uint32_t n = (uint32_t)strlen(name);
    struct record_pipe_message m = fragment(3, 0, n, name);
    ck_assert_int_eq(record_pipe_text_put(&texts, &m, &err), 0);
    ck_assert_ptr_null(record_pipe_text_get(&texts, 3));
    m = fragment(3, RECORD_PIPE_TEXT_BYTES, n, name + RECORD_PIPE_TEXT_BYTES);
    ck_assert_int_eq(record_pipe_text_put(&texts, &m, &err), 0);
    ck_assert_str_eq(record_pipe_text_get(&texts, 3), name);
    ck_assert_ptr_null(record_pipe_text_get(&texts, 2));
    ck_assert_ptr_null(record_pipe_text_get(&texts, 1u << 30));
    record_pipe_texts_release(&texts);
}
END_TEST

START_TEST(fragments_out_of_order_and_oversized_texts_are_refused)
{
    struct record_pipe_texts texts = {0};
    struct err err;
    struct record_pipe_message m = fragment(1, 40, 50, "x");
    ck_assert_int_eq(record_pipe_text_put(&texts, &m, &err), -1);
    m = fragment(2, 0, RECORD_PIPE_TEXT_MAX + 1, "x");
    ck_assert_int_eq(record_pipe_text_put(&texts, &m, &err), -1);
    m = fragment(RECORD_PIPE_TEXTS_MAX, 0, 1, "x");
    ck_assert_int_eq(record_pipe_text_put(&texts, &m, &err), -1);
    m = fragment(4, 0, 1, "x");
    ck_assert_int_eq(record_pipe_text_put(&texts, &m, &err), 0);
    ck_assert_int_eq(record_pipe_text_put(&texts, &m, &err), -1);
    record_pipe_texts_release(&texts);
}
END_TEST

/* What is announced and does not come takes no room, nor do numbers that are left out. */
START_TEST(memory_follows_what_came)
{
    struct record_pipe_texts texts = {0};
    struct err err;
    struct record_pipe_message m;
    for (uint64_t id = 0; id < 1000; id++) {
        m = fragment(id, 0, RECORD_PIPE_TEXT_MAX, "x");
        ck_assert_int_eq(record_pipe_text_put(&texts, &m, &err), 0);
        ck_assert_uint_lt(malloc_usable_size(texts.texts[id].text), 2 * RECORD_PIPE_TEXT_BYTES);
    }
    m = fragment(1000 + 2 * RECORD_PIPE_TEXTS_GAP, 0, 1, "x");
    ck_assert_int_eq(record_pipe_text_put(&texts, &m, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "does not follow"));
    texts.bytes = RECORD_PIPE_TEXTS_SUM - RECORD_PIPE_TEXT_BYTES;
    m = fragment(5, RECORD_PIPE_TEXT_BYTES, RECORD_PIPE_TEXT_MAX, "x");
    ck_assert_int_eq(record_pipe_text_put(&texts, &m, &err), 0);
    m = fragment(6, RECORD_PIPE_TEXT_BYTES, RECORD_PIPE_TEXT_MAX, "x");
    ck_assert_int_eq(record_pipe_text_put(&texts, &m, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "256 MiB"));
    record_pipe_texts_release(&texts);
}
END_TEST

START_TEST(the_longest_text_comes_back_whole)
{
    static char text[RECORD_PIPE_TEXT_MAX + 1];
    struct record_pipe_texts texts = {0};
    struct err err;
    for (int i = 0; i < RECORD_PIPE_TEXT_MAX; i++)
        text[i] = (char)('a' + i % 23);
    for (uint32_t at = 0; at < RECORD_PIPE_TEXT_MAX; at += RECORD_PIPE_TEXT_BYTES) {
        struct record_pipe_message m = fragment(1, at, RECORD_PIPE_TEXT_MAX, text + at);
        ck_assert_int_eq(record_pipe_text_put(&texts, &m, &err), 0);
    }
    ck_assert_str_eq(record_pipe_text_get(&texts, 1), text);
    record_pipe_texts_release(&texts);
}
END_TEST

START_TEST(an_empty_text_is_a_text)
{
    struct record_pipe_texts texts = {0};
    struct err err;
    struct record_pipe_message m = fragment(3, 0, 0, "");
    ck_assert_ptr_null(record_pipe_text_get(&texts, 3));
    ck_assert_int_eq(record_pipe_text_put(&texts, &m, &err), 0);
    const char *text = record_pipe_text_get(&texts, 3);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(record_pipe_text_put(&texts, &m, &err), 0); /* once more: it is valid until release */
    ck_assert_ptr_eq(record_pipe_text_get(&texts, 3), text);
    record_pipe_texts_release(&texts);
}
END_TEST

START_TEST(messages_of_another_version_or_with_unknown_texts_are_refused)
{
    struct record_pipe_texts texts = {0};
    struct err err;
    struct record_pipe_message m = {.type = RECORD_PIPE_HELLO, .kind = RECORD_PIPE_MAGIC};
    m.bytes = RECORD_PIPE_VERSION;
    ck_assert_int_eq(record_pipe_check(&m, &texts, &err), 0);
    m.bytes++;
    ck_assert_int_eq(record_pipe_check(&m, &texts, &err), -1);
    m = (struct record_pipe_message){.type = RECORD_PIPE_KERNEL, .id = 5};
    ck_assert_int_eq(record_pipe_check(&m, &texts, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "text 5"));
    m = (struct record_pipe_message){.type = RECORD_PIPE_TYPES};
    ck_assert_int_eq(record_pipe_check(&m, &texts, &err), -1);
    record_pipe_texts_release(&texts);
}
END_TEST

START_TEST(a_site_is_where_all_its_addresses_are_in_that_order)
{
    const char *stack = "app+0x11a9:make_arrays app+0x1f03 libc.so.6+0x271c9:__libc_start_main";
    static const char *const there[] = {
        "", "app+0x11a9", "app+0x1f03", "libc.so.6+0x271c9", "app+0x11a9,app+0x1f03", "app+0x11a9,libc.so.6+0x271c9"};
    static const char *const elsewhere[] = {"app+0x11a",
                                            "app+0x11a99",
                                            "app+0x11a8",
                                            "pp+0x11a9",
                                            "other+0x11a9",
                                            "make_arrays",
                                            "app+0x1f03,app+0x11a9",
                                            "app+0x11a9,app+0x11a9",
                                            "app+0x11a9,app+0x1f04",
                                            ",app+0x11a9"};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        ck_assert_msg(call_site_matches(stack, there[i]), "%s", there[i]);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        ck_assert_msg(!call_site_matches(stack, elsewhere[i]), "%s", elsewhere[i]);
    ck_assert(!call_site_matches("", "app+0x1"));
    ck_assert(call_site_matches("", ""));
}
END_TEST

/* Any choice of a stack's addresses in their order is on it; with one of them changed it is not. */
START_TEST(every_part_of_a_stack_matches_and_none_that_was_changed)
{
    enum { FRAMES = 8 };
    char stack[256] = "", site[256], wrong[256];
    for (unsigned i = 0; i < FRAMES; i++)
        (void)snprintf(stack + strlen(stack), sizeof stack - strlen(stack), "%sm+0x%x%s", i ? " " : "", 0x100 + i,
                       i % 2 ? ":f" : "");
    for (unsigned chosen = 1; chosen < 1u << FRAMES; chosen++) {
        *site = *wrong = 0;
        for (unsigned i = 0, last = 31 - (unsigned)__builtin_clz(chosen); i < FRAMES; i++)
            if (chosen >> i & 1) {
                (void)snprintf(site + strlen(site), sizeof site - strlen(site), "%sm+0x%x", *site ? "," : "",
                               0x100 + i);
                (void)snprintf(wrong + strlen(wrong), sizeof wrong - strlen(wrong), "%sm+0x%x", *wrong ? "," : "",
                               (i == last ? 0x200 : 0x100) + i);
            }
        ck_assert_msg(call_site_matches(stack, site), "%s", site);
        ck_assert_msg(!call_site_matches(stack, wrong), "%s", wrong);
    }
}
END_TEST

TEST_MAIN("record_pipe")
