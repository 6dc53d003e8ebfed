#include "replay/compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "replay/compare/compare_rows.h"
#include "replay/run/robust.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"

size_t compare_best_rows(const struct compare_result *result, size_t most, size_t *rows)
{
    bool said[COMPARE_MECHANISMS] = {false};
    size_t n = 0;
    for (size_t i = 0; i < result->count && n < most; i++)
        if (result->rows[i].answered && !said[result->rows[i].mechanism]) {
            said[result->rows[i].mechanism] = true;
            rows[n++] = i;
        }
    return n;
}

/* Unified memory that no driver has: compare_plan.c says so. */
static bool can_be_had(const struct compare_row *row)
{
    for (size_t i = 0; i < row->apply_count; i++)
        if (strncmp(row->apply[i], "no driver does this", 19) == 0)
            return false;
    return true;
}

static void take_command(const struct compare_result *result, struct compare_experiment *x)
{
    const struct compare_row *row = &result->rows[x->row];
    static const char from[] = "by cudaEventRecord() before the first ", to[] = " and behind the last kernel";
    bool copies = row->mechanism == COMPARE_COPY || row->mechanism == COMPARE_TIERED ||
                  row->mechanism == COMPARE_BLOCKS || row->mechanism == COMPARE_MIXED;
    if (row == compare_plannable(result))
        (void)snprintf(
            x->command, sizeof x->command,
            "offchip compare %s --platform %s%s -o plan.ini; offchip record --apply plan.ini -o t.db -- ./program",
            result->program, result->platform->name, result->sets);
    else
        (void)snprintf(x->command, sizeof x->command, "./program, changed as said above%s",
                       row->mechanism == COMPARE_ZEROCOPY
                           ? "; offchip record --accesses -o a.db -- ./program; offchip derive requests a.db -o t.db"
                           : "");
    (void)snprintf(x->measures, sizeof x->measures, "time_ns: %s%s%s%s", from,
                   copies || row->mechanism == COMPARE_DEVICE ? "cudaMemcpy()"
                   : row->prefetched                          ? "cudaMemPrefetchAsync()"
                                                              : "kernel",
                   to,
                   row == compare_plannable(result) ? " (recording slows faults: a win counts, a loss does not)" : "");
}

bool compare_experiment(const struct compare_result *result, size_t row, struct compare_experiment *x)
{
    const struct compare_row *own = &result->rows[row], *second = row ? NULL : compare_second(result);
    *x = (struct compare_experiment){
        .row = row, .rival = second ? (size_t)(second - result->rows) : 0, .wins = NAN, .loses = NAN};
    if (!own->answered || !can_be_had(own))
        return false;
    take_command(result, x);
    x->lo = compare_time_low(own) / (1 + own->error_ratio);
    x->hi = compare_time_high(own) * (1 + own->error_ratio);
    if (x->rival != row) {
        const struct compare_row *rival = &result->rows[x->rival];
        x->wins = compare_time_low(rival) / (1 + rival->error_ratio);
        x->loses = compare_time_high(rival) * (1 + rival->error_ratio);
        x->open = row ? x->lo < x->loses : x->hi > x->wins;
    }
    if (row < result->drawn)
        (void)robust_say_flips(&result->robust, row, x->settles, sizeof x->settles);
    return true;
}

const char *compare_experiment_say(const struct compare_result *result, const struct compare_experiment *x, char *buf,
                                   size_t size)
{
    char lo[32], hi[32], wins[32], loses[32];
    (void)snprintf(buf, size, "run: %s\nmeasure %s; predicted %s to %s\n", x->command, x->measures,
                   compare_time_text(x->lo, 4, lo, sizeof lo), compare_time_text(x->hi, 4, hi, sizeof hi));
    if (x->rival == x->row)
        return buf;
    const struct compare_row *rival = &result->rows[x->rival];
    (void)mem_add_text(buf, size, "below %s it beats %s (%s), above %s it loses; in between, measure that too\n",
                       compare_time_text(x->wins, 4, wins, sizeof wins), compare_mechanisms[rival->mechanism],
                       rival->policy, compare_time_text(x->loses, 4, loses, sizeof loses));
    if (!x->open)
        (void)mem_add_text(buf, size, "it is predicted to %s in any case: no need to run it\n",
                           x->row ? "lose" : "win");
    if (x->settles[0])
        (void)mem_add_text(buf, size,
                           "the result also says on which side of each of these numbers this machine lies: %s\n",
                           x->settles);
    return buf;
}

/* --- JSON --- */

static json_t *settles(const struct compare_result *result, size_t row)
{
    json_t *list = json_array();
    for (size_t i = 0; row < result->drawn && i < result->robust.flip_count; i++) {
        const struct robust_flip *flip = &result->robust.flips[i];
        const struct platform_axis *axis = &result->robust.numbers[flip->number].axis;
        char name[160], at[64];
        if (flip->answer == row)
            json_tree_add(&list, json_pack("{s:s,s:s,s:b}", "number", platform_axis_name(axis, name, sizeof name), "at",
                                           robust_at(axis, flip->at, at, sizeof at), "wins", flip->wins));
    }
    return list;
}

static json_t *experiment_json(const struct compare_result *result, const struct compare_experiment *x)
{
    const struct compare_row *row = &result->rows[x->row], *rival = &result->rows[x->rival];
    json_t *against = x->row == x->rival ? json_null()
                                         : json_pack("{s:s,s:s}", "mechanism", compare_mechanisms[rival->mechanism],
                                                     "policy", rival->policy);
    return json_pack("{s:s,s:s,s:o,s:s,s:[f,f],s:o,s:o,s:o,s:b,s:o}", "mechanism", compare_mechanisms[row->mechanism],
                     "policy", row->policy, "command", json_tree_text(x->command), "measures", x->measures,
                     "predicted_ns", x->lo, x->hi, "against", against, "wins_below_ns", json_tree_real(x->wins),
                     "loses_above_ns", json_tree_real(x->loses), "open", x->open, "settles", settles(result, x->row));
}

json_t *compare_experiments_json(const struct compare_result *result, size_t most)
{
    size_t rows[COMPARE_MECHANISMS], n = compare_best_rows(result, most, rows);
    json_t *list = json_array();
    struct compare_experiment x;
    for (size_t i = 0; i < n; i++)
        if (compare_experiment(result, rows[i], &x))
            json_tree_add(&list, experiment_json(result, &x));
    return list;
}
