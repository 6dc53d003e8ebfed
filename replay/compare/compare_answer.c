#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/compare/compare_rows.h"
#include "replay/uvm/second_run.h"
#include "trace/base/mem.h"

const char *compare_time_text(double ns, int digits, char *buf, size_t size)
{
    const char *unit = ns < 1e6 ? "us" : ns < 1e9 ? "ms" : "s";
    (void)snprintf(buf, size, "%.*g %s", digits, ns / (ns < 1e6 ? 1e3 : ns < 1e9 ? 1e6 : 1e9), unit);
    return buf;
}

void compare_name_recorded(struct compare_result *result, const struct input *input)
{
    const char *name = input->store ? recorded_program(input->store) : NULL;
    (void)snprintf(result->recorded, sizeof result->recorded, "%s", name ? name : "");
    if (input->store)
        (void)second_run_command(input->store, true, result->touches, sizeof result->touches);
}

/* No other row is of its mechanism. */
static bool is_alone(const struct compare_result *result, const struct compare_row *row)
{
    for (size_t i = 0; i < result->count; i++)
        if (&result->rows[i] != row && result->rows[i].mechanism == row->mechanism)
            return false;
    return true;
}

/* "copy", "managed (prefetched)", "zerocopy (aligned)": as few words as tell it from the other rows. */
static void name_row(const struct compare_result *result, const struct compare_row *row, char buf[COMPARE_NAME])
{
    const char *advice = strstr(row->policy, ", ");
    if (is_alone(result, row))
        (void)snprintf(buf, COMPARE_NAME, "%s", compare_mechanisms[row->mechanism]);
    else if (row->mechanism != COMPARE_MANAGED || strcspn(row->policy, ",") != 4 ||
             strncmp(row->policy, "tree", 4) != 0)
        (void)compare_row_name(row, buf);
    else if (advice)
        (void)snprintf(buf, COMPARE_NAME, "managed (%s)", advice + 2);
    else
        (void)snprintf(buf, COMPARE_NAME, "managed as it is");
}

unsigned compare_simplicity(const char *name)
{
    static const char order[] = "managed (tree)|managed (managed)|managed (tree, prefetched)|copy (|device (|"
                                "managed (tree, |zerocopy (as-written|zerocopy (naive|zerocopy (merged|zerocopy (|"
                                "pinned (|tiered (naive|tiered (merged|tiered (|mixed (|managed (none)|managed (fixed:";
    unsigned i = 0;
    for (const char *p = order; *p; p += strcspn(p, "|"), p += *p == '|', i++)
        if (strncmp(name, p, strcspn(p, "|")) == 0)
            return i;
    return i;
}

bool compare_is_bound(const char *row_name)
{
    return strncmp(row_name, "tiered (", 8) == 0 && strstr(row_name, " by " COMPARE_OWN_COUNTS) != NULL;
}

void compare_verdict_release(struct compare_verdict *v)
{
    free(v->answers);
    free(v->names);
}

int compare_verdict(const struct compare_result *result, struct compare_verdict *v, struct err *err)
{
    *v = (struct compare_verdict){.verdict = {.metric = compare_metrics,
                                              .decides = result->in_part  ? "Add --whole"
                                                         : result->copied ? "Record the program's accesses"
                                                                          : NULL,
                                              .draws = result->drawn ? &result->robust : NULL},
                                  .answers = mem_zalloc(result->count + 1, sizeof *v->answers, err),
                                  .names = mem_zalloc(result->count + 1, sizeof *v->names, err)};
    if (!v->answers || !v->names) {
        compare_verdict_release(v);
        return -1;
    }
    for (size_t i = 0; i < result->count; i++) {
        const struct compare_row *row = &result->rows[i];
        v->answers[i].name = v->names[i];
        v->answers[i].simple = compare_simplicity(compare_row_name(row, v->names[i]));
        verdict_take(&v->verdict, &v->answers[i], row->outcome.values, row->error_ratio);
        v->answers[i].value.common = row->common_ns;
        v->answers[i].unlike = row->mechanism == COMPARE_MANAGED && engine_unlike(engine_find("uvm"), row->policy);
        if (compare_is_bound(v->names[i]))
            verdict_leave_out(&v->answers[i]);
        name_row(result, row, v->names[i]);
    }
    verdict_make(&v->verdict, v->answers, result->count);
    return 0;
}

/* How many times as long as each of the best a row takes at least; as those that are no estimate, where there are. */
static double behind(const struct compare_verdict *v, size_t count, size_t i)
{
    double most = 0;
    bool closed = false;
    for (size_t best = 0; best < count; best++)
        closed |= v->answers[best].wins && !v->answers[best].open;
    for (size_t best = 0; best < count; best++)
        if (v->answers[best].wins && !(closed && v->answers[best].open))
            most = fmax(most, verdict_margin(&v->verdict, &v->answers[best], &v->answers[i]));
    return most;
}

const char *compare_of_best(const struct compare_verdict *v, size_t count, size_t i, char *buf, size_t size)
{
    const struct verdict_answer *a = &v->answers[i];
    if (a->left_out || (a->value.state != ROBUST_STANDS && *a->text != '>'))
        (void)snprintf(buf, size, "n/a");
    else if (a->wins && v->verdict.tied && a->error > 0)
        (void)snprintf(buf, size, "= +-%.0f %%", 100 * a->error);
    else if (a->wins && v->verdict.tied)
        (void)snprintf(buf, size, "=");
    else
        (void)snprintf(buf, size, "%s%.2f",
                       *a->text == '>'       ? "> "
                       : a->open && !a->wins ? "~"
                                             : "",
                       a->wins ? 1 : behind(v, count, i));
    return buf;
}

const char *compare_answer(const struct compare_result *result, char *buf, size_t size)
{
    struct compare_verdict v;
    *buf = 0;
    if (compare_verdict(result, &v, NULL))
        return buf;
    (void)snprintf(buf, size, "%s", v.verdict.say);
    compare_verdict_release(&v);
    return buf;
}
