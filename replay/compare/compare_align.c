/* compare_align: the gain of alignment for zero-copy. Where a structure or a table's rows are off a multiple of 128
 * bytes, the engine runs once more with them aligned; a row with fewer requests then says so, and by how many bytes. It
 * needs a generated program with such a key: base_offset (bytes, lists), offset (elements, arrays), row_bytes (rows).
 * Padded rows are read with their padding, so their gain is the least possible. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/zerocopy/warp.h"
#include "replay/compare/compare_rows.h"
#include "replay/zerocopy/zerocopy.h"
#include "trace/base/param_value.h"

/* How the input would be aligned. */
struct aligning {
    char spec[4096];
    char what[256]; /* "begin edges 96 bytes later" */
};

/* The end of the key=value at `at`: lists in [] have commas of their own. */
static const char *item_end(const char *at)
{
    int depth = 0;
    while (*at && (*at != ',' || depth)) {
        depth += (*at == '[') - (*at == ']');
        at++;
    }
    return at;
}

/* A number of the spec, as it is written; 0: it is not there. */
static long long given(const char *spec, const char *key)
{
    size_t n = strlen(key);
    const char *at = strchr(spec, ',');
    for (; at; at = *item_end(at + 1) ? item_end(at + 1) : NULL)
        if (strncmp(at + 1, key, n) == 0 && at[1 + n] == '=')
            return strtoll(at + 2 + n, NULL, 10);
    return 0;
}

/* The spec with that key at another value. */
static void with(const char *spec, const char *key, long long value, char *out, size_t size)
{
    size_t n = strcspn(spec, ","), length = strlen(key);
    (void)snprintf(out, size, "%.*s", (int)n, spec);
    for (const char *at = spec + n; *at;) {
        const char *end = item_end(at + 1);
        if (strncmp(at + 1, key, length) != 0 || at[1 + length] != '=')
            (void)mem_add_text(out, size, "%.*s", (int)(end - at), at);
        at = end;
    }
    (void)mem_add_text(out, size, ",%s=%lld", key, value);
}

/* Whether there is anything to align, and how. */
static bool how(const struct compare_program *f, const struct scan_setup *s, struct aligning *a)
{
    const char *spec = f->input->spec;
    const struct workload_type *type = f->input->workload.type;
    const struct scan_structure *first = &s->structures[0];
    const struct param *base = type ? param_find(type->params, "base_offset") : NULL,
                       *offset = type ? param_find(type->params, "offset") : NULL;
    unsigned long long row = (unsigned long long)s->row_elements * first->element;
    if (s->shape == SCAN_ROWS && row % LINE_BYTES && param_find(type->params, "row_bytes")) {
        unsigned long long padded = (row + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES,
                           rows = first->elements / (unsigned long long)s->row_elements;
        char fixed[sizeof a->spec];
        with(spec, "table_rows", (long long)rows, fixed, sizeof fixed);
        with(fixed, "row_bytes", (long long)padded, a->spec, sizeof a->spec);
        (void)snprintf(a->what, sizeof a->what,
                       "let rows of %s lie %llu bytes apart, not %llu (%llu bytes more each, %.4g MiB "
                       "together)",
                       first->name, padded, row, padded - row, (double)(rows * (padded - row)) / 0x1p20);
        return true;
    }
    unsigned long long behind = base     ? first->base % LINE_BYTES
                                : offset ? (unsigned long long)given(spec, "offset") * first->element % LINE_BYTES
                                         : 0;
    if (!behind)
        return false;
    with(spec, base ? "base_offset" : "offset", 0, a->spec, sizeof a->spec);
    (void)snprintf(a->what, sizeof a->what, "begin what is read of %s %llu bytes later, on a multiple of %d",
                   first->name, LINE_BYTES - behind, LINE_BYTES);
    return true;
}

static int ask(const struct compare_program *f, const struct input *input, const char *policies,
               const struct compare_result *result, struct replay_result *got, struct err *err)
{
    struct replay_request request = {.engine = engine_find("zerocopy"),
                                     .platform = f->request->platform ? f->request->platform : result->choice.name,
                                     .policy_list = policies,
                                     .sets = f->request->sets,
                                     .set_count = f->request->set_count,
                                     .set_sections = compare_sections(f->platform),
                                     .inputs = input,
                                     .input_count = 1,
                                     .threads = f->request->threads,
                                     .engine_options = &(struct zerocopy_options){.link_metrics_only = true}};
    return compare_execute(f, &request, got, err);
}

static void say(const struct aligning *a, const struct replay_result *now, const struct replay_result *aligned,
                struct compare_result *result)
{
    for (size_t i = 0; i < now->policy_count && i < aligned->policy_count; i++) {
        char label[160];
        replay_policy_label(&now->policies[i], label, sizeof label);
        struct compare_row *row = compare_find(result, COMPARE_ZEROCOPY, label);
        const struct metric_value *n = outcome_get(&now->runs[i], "requests"),
                                  *t = outcome_get(&now->runs[i], "time_ns"),
                                  *m = outcome_get(&aligned->runs[i], "requests"),
                                  *u = outcome_get(&aligned->runs[i], "time_ns");
        if (!row || !n->known || !m->known || !t->known || !u->known || m->real >= n->real || u->real > t->real)
            continue;
        compare_plan_say(row, "%s: %.0f requests instead of %.0f, reads take %.4g us instead of %.4g%s", a->what,
                         m->real, n->real, u->real / 1e3, t->real / 1e3,
                         u->real * (1 + row->error_ratio) >= t->real ? " (within the model's error)" : "");
    }
}

int compare_align_rows(const struct compare_program *f, const struct scan_setup *setup, const char *policies,
                       struct compare_result *result, struct err *err)
{
    struct aligning a;
    struct input input;
    struct replay_result now, aligned;
    struct err why = {""};
    if (f->only || !how(f, setup, &a))
        return 0;
    if (input_open(&input, a.spec, "", false, &why))
        return err_pass_memory(&why, err);
    if (ask(f, f->input, policies, result, &now, &why) == 0) {
        if (ask(f, &input, policies, result, &aligned, &why) == 0) {
            say(&a, &now, &aligned, result);
            replay_release(&aligned);
        }
        replay_release(&now);
    }
    input_close(&input);
    return err_pass_memory(&why, err);
}
