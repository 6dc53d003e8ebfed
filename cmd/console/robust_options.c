#include "cmd/console/robust_options.h"

#include "replay/run/replay_robust.h"

static const char *const columns[] = {"robust_draws", "robust_wins", "robust_ties", "robust_flips"};

int robust_options_take(const struct robust_options *options, struct replay_robust *robust, struct err *err)
{
    if (!options->draws && options->seed >= 0)
        return err_set(err, "--seed is of the draws of --robust N");
    if (!options->draws && options->tie >= 0)
        return err_set(err, "--tie is of the draws of --robust N");
    *robust = (struct replay_robust){.draws = (uint32_t)options->draws,
                                     .seed = options->seed < 0 ? 1 : (uint64_t)options->seed,
                                     .tie_pct = (int)options->tie};
    return 0;
}

void robust_table_row(struct table *table, const struct replay_result *result, size_t runs)
{
    if (!result->robustness)
        return;
    const struct robust *r = &result->robustness->robust;
    table_cell(table, "wins");
    for (size_t i = 0; i < runs; i++)
        if (i < r->answers)
            table_cell(table, "%u of %u", r->wins[i], r->draws);
        else
            table_cell(table, "n/a");
}

size_t robust_csv_columns(const struct replay_result *result)
{
    return result->robustness ? sizeof columns / sizeof *columns : 0;
}

void robust_csv(struct table *table, const struct replay_result *result, const size_t *run)
{
    char flips[900];
    for (size_t i = 0; !run && i < robust_csv_columns(result); i++)
        table_cell(table, "%s", columns[i]);
    if (!run || !result->robustness)
        return;
    const struct robust *r = &result->robustness->robust;
    table_cell(table, "%u", r->draws);
    table_cell(table, "%u", r->wins[*run]);
    table_cell(table, "%u", r->ties[*run]);
    table_cell(table, "%s", robust_say_flips(r, *run, flips, sizeof flips));
}
