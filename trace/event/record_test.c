#include "trace/event/record.h"

#include "trace/base/testing.h"

START_TEST(every_kind_has_a_name_that_finds_it)
{
    for (int k = RECORD_KERNEL; k < RECORD_SKIPPED; k++) {
        ck_assert_ptr_nonnull(record_kinds[k].name);
        ck_assert_int_eq(record_kind_find(record_kinds[k].name), k);
    }
    ck_assert_int_eq(record_kind_find("NOTHING"), RECORD_NONE);
    ck_assert_int_eq(record_kind_find("SKIPPED"), RECORD_NONE);
}
END_TEST

/* docs/trace-format.md has a row for each kind; what it should say stands in the message. */
START_TEST(the_documented_table_of_kinds_is_current)
{
    static char text[1 << 16];
    FILE *f = fopen("docs/trace-format.md", "rb");
    if (!f)
        return; /* run from elsewhere */
    size_t n = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    text[n] = 0;
    for (int k = RECORD_KERNEL; k < RECORD_SKIPPED; k++) {
        const struct record_kind_info *info = &record_kinds[k];
        char escaped[600];
        const char *row = testing_text("%s | %s | %s", info->fields, info->flags, info->id);
        size_t used = (size_t)snprintf(escaped, sizeof escaped, "| %d | %s | ", k, info->name);
        int bars = 0; /* the first two part the columns, others belong to the text */
        for (const char *p = row; *p && used + 4 < sizeof escaped; p++) {
            if (*p == '|' && bars++ >= 2)
                escaped[used++] = '\\';
            escaped[used++] = *p;
        }
        escaped[used] = 0;
        ck_assert_msg(strstr(text, escaped) != NULL, "docs/trace-format.md lacks: %s |", escaped);
    }
}
END_TEST

START_TEST(a_record_is_56_bytes)
{
    ck_assert_uint_eq(sizeof(struct record), 56);
}
END_TEST

TEST_MAIN("record")
