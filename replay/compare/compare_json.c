#include "replay/compare/compare.h"
#include "replay/run/robust.h"
#include "trace/base/json_tree.h"

static json_t *row_json(const struct compare_row *row, struct err *err)
{
    json_t *apply = json_array();
    json_t *object = json_pack("{s:s,s:s,s:O,s:o,s:f}", "mechanism", compare_mechanism_name(row->mechanism), "policy",
                               row->policy, "params", row->params, "apply", apply, "error_ratio", row->error_ratio);
    int bad = !object;
    for (size_t i = 0; i < row->apply_count && !bad; i++)
        bad = json_array_append_new(apply, json_tree_text(row->apply[i]));
    if (bad)
        err_set(err, "out of memory");
    else if (outcome_to_json(&row->outcome, object, err) == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* Of each drawn row, and of all. */
static int put_robust(const struct compare_result *result, json_t *root, json_t *rows)
{
    const char *names[256];
    char labels[256][192];
    size_t n = result->drawn < 256 ? result->drawn : 256;
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(labels[i], sizeof labels[i], "%s (%s)", compare_mechanism_name(result->rows[i].mechanism),
                       result->rows[i].policy);
        names[i] = labels[i];
    }
    for (size_t i = 0; i < n; i++)
        if (json_object_set_new(json_array_get(rows, i), "robust", robust_answer_json(&result->robust, i, names)))
            return -1;
    return json_object_set_new(root, "robust", robust_json(&result->robust, names));
}

json_t *compare_to_json(const struct compare_result *result, struct err *err)
{
    char answer[512];
    json_t *rows = json_array();
    json_t *root =
        json_pack("{s:i,s:o,s:s,s:I,s:o?,s:o,s:o}", "schema", 1, "program", json_tree_text(result->program), "platform",
                  result->platform->name, "footprint_bytes", (json_int_t)result->footprint_bytes, "memory_bytes",
                  result->memory_bytes ? json_integer((json_int_t)result->memory_bytes) : json_null(), "answer",
                  json_tree_text(compare_answer(result, answer, sizeof answer)), "rows", rows);
    if (!root) {
        err_set(err, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < result->count; i++) {
        json_t *row = row_json(&result->rows[i], err);
        if (!row || json_array_append_new(rows, row)) {
            json_decref(root);
            if (row)
                err_set(err, "out of memory");
            return NULL;
        }
    }
    if ((result->drawn && put_robust(result, root, rows)) ||
        (result->top && json_object_set_new(root, "experiments", compare_experiments_json(result, result->top)))) {
        err_set(err, "out of memory");
        json_decref(root);
        return NULL;
    }
    return root;
}
