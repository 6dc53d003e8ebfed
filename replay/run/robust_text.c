#include "replay/run/robust.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/json_tree.h"
#include "trace/base/param.h"

const char *robust_at(const struct platform_axis *axis, double value, char *buf, size_t size)
{
    if (axis->row && axis->row->type == PARAM_CHOICE)
        return param_choice(axis->row, llround(value), buf, size);
    bool whole = axis->row && axis->row->type != PARAM_REAL;
    (void)snprintf(buf, size, whole ? "%.0f" : "%.6g", value);
    return buf;
}

static void append(char *buf, size_t size, const char *text)
{
    size_t used = strlen(buf);
    if (used < size)
        (void)snprintf(buf + used, size - used, "%s", text);
}

static void append_flips(const struct robust *r, size_t answer, const char *between, char *buf, size_t size)
{
    size_t said = 0;
    for (size_t f = 0; f < r->flip_count; f++) {
        char name[96], at[64], text[200];
        const struct platform_axis *axis = &r->numbers[r->flips[f].number].axis;
        if (r->flips[f].answer != answer)
            continue;
        (void)snprintf(text, sizeof text, "%s%s=%s", said++ ? between : "", platform_axis_name(axis, name, sizeof name),
                       robust_at(axis, r->flips[f].at, at, sizeof at));
        append(buf, size, text);
    }
}

const char *robust_say_flips(const struct robust *robust, size_t answer, char *buf, size_t size)
{
    buf[0] = 0;
    append_flips(robust, answer, "; ", buf, size);
    return buf;
}

const char *robust_say(const struct robust *r, size_t answer, char *buf, size_t size)
{
    bool nominal = r->nominal[answer], holds = robust_holds(r, answer);
    char flips[64] = "", ties[40] = "";
    (void)robust_say_flips(r, answer, flips, sizeof flips);
    if (r->ties[answer])
        (void)snprintf(ties, sizeof ties, " (%u of them tied)", r->ties[answer]);
    (void)snprintf(buf, size, "%swins in %u of %u draws%s%s%s",
                   holds     ? "robust: "
                   : nominal ? "not robust: "
                             : "",
                   r->wins[answer], r->draws, ties, holds ? ", and no number alone changes that" : "",
                   !*flips   ? ""
                   : nominal ? "; flips when "
                             : "; would win when ");
    append_flips(r, answer, ", ", buf, size);
    return buf;
}

/* --- JSON --- */

static json_t *at_json(const struct platform_axis *axis, double value)
{
    char name[64];
    if (axis->row && axis->row->type == PARAM_CHOICE)
        return json_string(param_choice(axis->row, llround(value), name, sizeof name));
    return axis->row && axis->row->type != PARAM_REAL ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *name_json(const char *const *names, size_t answer)
{
    return answer == ROBUST_NONE ? json_null() : json_tree_text(names[answer]);
}

static json_t *flip_json(const struct robust *r, const struct robust_flip *flip, const char *const *names)
{
    const struct platform_axis *axis = &r->numbers[flip->number].axis;
    char name[96];
    return json_pack("{s:s,s:o,s:b,s:o}", "number", platform_axis_name(axis, name, sizeof name), "at",
                     at_json(axis, flip->at), "wins", flip->wins, "best", name_json(names, flip->best));
}

json_t *robust_answer_json(const struct robust *r, size_t answer, const char *const *names)
{
    json_t *flips = json_array();
    for (size_t f = 0; f < r->flip_count; f++)
        if (r->flips[f].answer == answer)
            json_tree_add(&flips, flip_json(r, &r->flips[f], names));
    return json_pack("{s:I,s:I,s:I,s:b,s:o}", "draws", (json_int_t)r->draws, "wins", (json_int_t)r->wins[answer],
                     "ties", (json_int_t)r->ties[answer], "nominal", r->nominal[answer], "flips", flips);
}

static json_t *number_json(const struct robust_number *n, const char *const *names)
{
    char name[96];
    const struct platform_axis *axis = &n->axis;
    return json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "number", platform_axis_name(axis, name, sizeof name),
                     "unit", axis->row ? axis->row->unit : "factor", "kind", platform_kind_name(axis->kind), "low",
                     at_json(axis, axis->low), "high", at_json(axis, axis->high), "value", at_json(axis, axis->value),
                     "low_margin", json_tree_real(n->margin[0]), "high_margin", json_tree_real(n->margin[1]),
                     "low_best", name_json(names, n->best[0]), "high_best", name_json(names, n->best[1]));
}

json_t *robust_json(const struct robust *r, const char *const *names)
{
    json_t *answers = json_array(), *numbers = json_array(), *wins = json_array(), *ties = json_array(),
           *errors = json_array();
    for (size_t a = 0; a < r->answers; a++) {
        json_tree_add(&answers, json_tree_text(names[a]));
        json_tree_add(&wins, json_integer((json_int_t)r->wins[a]));
        json_tree_add(&errors, json_real(r->errors[a]));
        json_tree_add(&ties, json_integer((json_int_t)r->ties[a]));
    }
    for (size_t n = 0; n < r->number_count; n++)
        json_tree_add(&numbers, number_json(&r->numbers[n], names));
    return json_pack("{s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:o}", "draws", (json_int_t)r->draws, "seed",
                     (json_int_t)r->seed, "answers", answers, "wins", wins, "ties", ties, "ties_within", errors, "best",
                     name_json(names, r->best), "margin", json_tree_real(r->margin), "unanswered", (json_int_t)r->none,
                     "numbers", numbers);
}
