/* results_sweep: which sweeps are still on their way to a results file. */
#include "replay/results/results_file.h"
#include "trace/store/output.h"

/* One row in or out, as a transaction of its own unless one is open. */
static int change(struct results *results, enum results_statement which, const char *sweep, int64_t points,
                  struct err *err)
{
    sqlite3_stmt *stmt = results_statement(results, which, err);
    if (!stmt)
        return -1;
    int rc = sqlite3_bind_text(stmt, 1, sweep, -1, SQLITE_STATIC);
    if (!rc && which == RESULTS_SWEEP_BEGIN)
        rc = sqlite3_bind_int64(stmt, 2, points);
    output_hold();
    if (!rc)
        rc = sqlite3_step(stmt);
    int failed = rc != SQLITE_DONE ? results_failed(results, err) : 0;
    (void)sqlite3_reset(stmt);
    output_release();
    results->transactions += !failed && sqlite3_get_autocommit(results->db) && sqlite3_changes(results->db) > 0;
    return failed;
}

int results_sweep_begin(struct results *results, const char *sweep, int64_t points, struct err *err)
{
    return change(results, RESULTS_SWEEP_BEGIN, sweep, points, err);
}

int results_sweep_end(struct results *results, const char *sweep, struct err *err)
{
    return change(results, RESULTS_SWEEP_END, sweep, 0, err);
}

int results_sweeping(struct results *results, const char *sweep, struct err *err)
{
    sqlite3_stmt *stmt = results_statement(results, RESULTS_SWEEPING, err);
    int rc = stmt ? sqlite3_bind_text(stmt, 1, sweep, -1, SQLITE_STATIC) : SQLITE_ERROR;
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    int there = rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : stmt ? results_failed(results, err) : -1;
    (void)sqlite3_reset(stmt);
    return there;
}

int results_merge_sweeps(struct results *results, struct results *from, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int failed = 0, rc;
    if (from->version < 3)
        return 0;
    if (sqlite3_prepare_v2(from->db, "SELECT sweep, points FROM main.sweeps", -1, &stmt, NULL))
        return results_failed(from, err);
    while (!failed && (rc = sqlite3_step(stmt)) != SQLITE_DONE)
        failed = rc != SQLITE_ROW ? results_failed(from, err)
                                  : results_sweep_begin(results, (const char *)sqlite3_column_text(stmt, 0),
                                                        sqlite3_column_int64(stmt, 1), err);
    sqlite3_finalize(stmt);
    return failed;
}
