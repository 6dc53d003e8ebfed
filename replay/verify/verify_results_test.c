#include "replay/verify/verify.h"

#include <sqlite3.h>

#include "replay/results/results.h"
#include "trace/base/testing.h"
#include "trace/base/version.h"

static const char *file_of_two(void)
{
    const char *path = testing_file("r.db");
    struct results *results = GIVES(results_open(path, RESULTS_APPEND, &err));
    const struct results_run runs[] = {
        {.engine = "uvm",
         .policy = "tree",
         .version = offchip_version,
         .numbers = "{\"gpu.sms\":80}",
         .metrics = "{\"time_ns\":7,\"faults\":3}"},
        {.engine = "uvm", .policy = "none", .version = "0.1", .metrics = "{\"faults\":3}"}};
    WORKS(results_put(results, runs, 2, &err));
    results_close(results);
    return path;
}

static int64_t value(const struct verify *verify, const char *name)
{
    return outcome_get(&verify->outcome, name)->whole;
}

START_TEST(a_sound_file_says_what_was_looked_at)
{
    struct verify verify;
    WORKS(verify_results(&verify, file_of_two(), &err));
    ck_assert(verify.complete);
    ck_assert_int_eq(value(&verify, "runs"), 2);
    ck_assert_int_eq(value(&verify, "metrics"), 3);
    ck_assert_int_eq(value(&verify, "parts"), 0);
    ck_assert_int_eq(value(&verify, "platforms"), 1);
    ck_assert_int_eq(value(&verify, "other_release_runs"), 1);
    ck_assert_uint_eq(verify.outcome.note_count, 1);
    ck_assert_ptr_nonnull(strstr(verify.outcome.notes[0], "1 of 2 runs"));
    verify_release(&verify);
}
END_TEST

START_TEST(a_changed_file_fails_by_the_name_of_its_run)
{
    struct err err = {""};
    struct verify verify;
    const char *path = file_of_two();
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "UPDATE metrics SET value = 1 WHERE run = 2", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    ck_assert_int_eq(verify_results(&verify, path, &err), -1);
    ck_assert_msg(strstr(err.msg, "r.db") && strstr(err.msg, "policy none"), "%s", err.msg);
}
END_TEST

TEST_MAIN("verify_results")
