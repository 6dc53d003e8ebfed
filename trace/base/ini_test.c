#include "trace/base/ini.h"

#include "trace/base/testing.h"

/* What was taken, as "[s]k=v;". */
static char taken[400000];
static size_t used;

static int take(void *ctx, const char *section, const char *key, const char *value, struct err *err)
{
    (void)ctx;
    if (key && strcmp(key, "bad") == 0)
        return err_set(err, "not this one");
    used += (size_t)snprintf(taken + used, sizeof taken - used, "[%s]%s%s%s;", section, key ? key : "", key ? "=" : "",
                             key ? value : "");
    return 0;
}

static int go(const char *text, size_t bytes, struct err *err)
{
    used = 0;
    taken[0] = 0;
    return ini_read_text("x.ini", text, bytes, &(struct ini_reader){take, NULL}, err);
}

static void gives(const char *text, const char *expected)
{
    struct err err = {""};
    ck_assert_msg(go(text, strlen(text), &err) == 0, "'%s': %s", text, err.msg);
    ck_assert_msg(strcmp(taken, expected) == 0, "'%s' gave %s, expected %s", text, taken, expected);
}

START_TEST(sections_keys_and_comments)
{
    gives("", "");
    gives("; nothing\n  # nothing\n\n", "");
    gives("[a]\nk = v\n[b]\nk=w = 2\n", "[a];[a]k=v;[b];[b]k=w = 2;");
    gives(" [ a ] ; comment\n\tk\t=  two words ; comment\n", "[a];[a]k=two words;");
    gives("[a]\nk = half; half # whole\ne =\n", "[a];[a]k=half; half # whole;[a]e=;");
    gives("[a]\n  first = 1\n  second = 2\n", "[a];[a]first=1;[a]second=2;");
}
END_TEST

START_TEST(ends_of_lines_and_a_byte_order_mark)
{
    gives("[a]\r\nk = v\r\n; c\r\n", "[a];[a]k=v;");
    gives("\xef\xbb\xbf[a]\nk = v", "[a];[a]k=v;");
    gives("[a]", "[a];");
}
END_TEST

/* inih went on after byte 199 of a line as if that were a line of its own. */
START_TEST(a_line_has_no_longest_length)
{
    for (size_t n = 150; n < 100000; n = n < 250 ? n + 1 : n * 3) {
        char *text = malloc(2 * n + 100);
        char *end = text + sprintf(text, "[a]\n;");
        memset(end, 'c', n);
        end += n;
        end += sprintf(end, " k = 7\nk = ");
        memset(end, 'v', n);
        end += n;
        *end = '\n';
        WORKS(go(text, (size_t)(end + 1 - text), &err));
        ck_assert_uint_eq(used, 4 + 5 + n + 1);
        free(text);
    }
}
END_TEST

START_TEST(what_is_wrong_is_named_with_its_line)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"[a]\nk = 1\nrubbish\n", "x.ini:3: found 'rubbish'; expected '[section]' or 'key = value'"},
               {"k = 1\n[a]\n", "x.ini:1: 'k = 1' stands before the first [section]"},
               {"[a]\n= 1\n", "x.ini:2: found '= 1'; expected"},
               {"[a\nk = 1\n", "x.ini:1: found '[a'; expected '[section]' and nothing else"},
               {"[a] k = 1\n", "x.ini:1: found '[a] k = 1'; expected '[section]' and nothing else"},
               {"[]\n", "x.ini:1: found '[]'; expected a name"},
               {"[a]\nk = 1\n\nk = 2\n", "x.ini:4: k is given again; it stands in line 2"},
               {"[a]\nk = 1\n[b]\n[a]\nj = 2\n", "x.ini:4: a is given again; it stands in line 1"},
               {"[a]\r\nbad = 1\r\n", "x.ini:2: not this one"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {""};
        ck_assert_int_eq(go(bad[i].text, strlen(bad[i].text), &err), -1);
        ck_assert_msg(strstr(err.msg, bad[i].says) == err.msg, "'%s' gave: %s", bad[i].text, err.msg);
    }
    struct err err = {""};
    ck_assert_int_eq(go("[a]\nk\0 = 1\nk = 2\n", 17, &err), -1);
    ck_assert_str_eq(err.msg, "x.ini:2: found a zero byte after 1 characters; expected text");
}
END_TEST

START_TEST(a_file_is_read_as_its_text_is)
{
    const struct ini_reader reader = {take, NULL};
    used = 0;
    WORKS(ini_read_file(testing_write("x.ini", "[a]\nk = 1", 9), &reader, &err));
    ck_assert_str_eq(taken, "[a];[a]k=1;");
    FAILS_WITH(ini_read_file("/dev/zero", &reader, &err), "not a file");
}
END_TEST

TEST_MAIN("ini")
