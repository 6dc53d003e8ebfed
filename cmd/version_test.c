#include "cmd/cmd.h"

#include "trace/base/testing.h"
#include "trace/base/version.h"
#include "trace/store/sqlite.h"

START_TEST(every_fact_has_a_name_of_its_own_and_a_value)
{
    const char *names[64], *value;
    size_t n = 0;
    for (const char *name; (name = version_fact(n, &value)); n++) {
        ck_assert_uint_lt(n, 64);
        ck_assert_uint_gt(strlen(value), 0);
        for (size_t i = 0; i < n; i++)
            ck_assert_str_ne(names[i], name);
        names[n] = name;
        if (strcmp(name, "SQLite") == 0)
            ck_assert_str_eq(value, sqlite3_libversion());
    }
    ck_assert_uint_gt(n, 8);
    ck_assert_uint_gt(strlen(offchip_version), 0);
}
END_TEST

TEST_MAIN("version")
