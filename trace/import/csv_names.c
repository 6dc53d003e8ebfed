#include "trace/base/param.h"
#include "trace/import/csv.h"

#include <string.h>

/* A list in brackets, or without them. */
static int list_init(struct param_list *list, const char *what, const char *text, struct err *err)
{
    char inner[1024];
    size_t n = strlen(text);
    const bool brackets = n >= 2 && text[0] == '[' && text[n - 1] == ']';
    if (n >= sizeof inner)
        return err_set(err, "%s: over %zu bytes", what, sizeof inner - 1);
    memcpy(inner, text + brackets, n - 2 * (size_t)brackets);
    inner[n - 2 * (size_t)brackets] = 0;
    if (param_list_init(list, inner, err))
        return err_at(err, "%s", what);
    if (list->count == 0 || list->count > CSV_PAIRS)
        return err_set(err, "%s: %zu names; expected 1 to %d", what, list->count, CSV_PAIRS);
    return 0;
}

static int check_kinds(const struct csv_names *names, struct err *err)
{
    for (size_t i = 0; i < names->kinds.count; i++) {
        const struct param_pair *p = &names->kinds.pairs[i];
        if (!p->value)
            return err_set(err, "kinds: '%.40s' stands for no kind; expected THEIRS=KIND", p->key);
        if (record_kind_find(p->value) == RECORD_NONE)
            return err_set(err, "kinds: '%.40s' is no record kind such as DRAM_READ (docs/trace-format.md lists them)",
                           p->value);
    }
    return 0;
}

int csv_names_init(struct csv_names *names, const char *columns, const char *kinds, struct err *err)
{
    *names = (struct csv_names){.only = RECORD_NONE};
    if (columns && list_init(&names->columns, "columns", columns, err))
        return -1;
    for (size_t i = 0; i < names->columns.count; i++)
        if (!names->columns.pairs[i].value || !*names->columns.pairs[i].value)
            return err_set(err, "columns: '%.40s' has no name; expected OURS=THEIRS", names->columns.pairs[i].key);
    names->only = kinds ? record_kind_find(kinds) : RECORD_NONE;
    if (!kinds || names->only != RECORD_NONE)
        return 0;
    return list_init(&names->kinds, "kinds", kinds, err) ? -1 : check_kinds(names, err);
}

void csv_names_release(struct csv_names *names)
{
    param_list_release(&names->columns);
    param_list_release(&names->kinds);
}

const char *csv_names_column(struct csv_names *names, const struct field *theirs)
{
    for (size_t i = 0; i < names->columns.count; i++)
        if (!names->met[i] && field_is(theirs, names->columns.pairs[i].value)) {
            names->met[i] = true;
            return names->columns.pairs[i].key;
        }
    return NULL;
}

const char *csv_names_missing(const struct csv_names *names)
{
    for (size_t i = 0; i < names->columns.count; i++)
        if (!names->met[i])
            return names->columns.pairs[i].value;
    return NULL;
}

enum record_kind csv_names_kind(const struct csv_names *names, const struct field *theirs)
{
    for (size_t i = 0; i < names->kinds.count; i++)
        if (field_is(theirs, names->kinds.pairs[i].key))
            return record_kind_find(names->kinds.pairs[i].value);
    return RECORD_NONE;
}

/* The digits behind a point, as ns of a unit of 10^places; what is finer is rounded to the nearest. */
static bool decimals(const char *p, const char *end, int places, int64_t *ns)
{
    int i = 0;
    *ns = 0;
    for (; p < end; p++, i++) {
        if (*p < '0' || *p > '9')
            return false;
        if (i < places)
            *ns = *ns * 10 + (*p - '0');
        else if (i == places)
            *ns += *p >= '5';
    }
    for (; i < places; i++)
        *ns *= 10;
    return true;
}

bool csv_names_time(const struct field *field, enum csv_unit unit, int64_t *time)
{
    static const int places[] = {[CSV_NS] = 0, [CSV_US] = 3, [CSV_MS] = 6, [CSV_S] = 9, [CSV_CYCLES] = 0};
    static const int64_t scales[] = {1, 1000, 1000000, 1000000000, 1};
    const char *point = memchr(field->text, '.', field->length), *end = field->text + field->length;
    const struct field before = {field->text, point ? (size_t)(point - field->text) : field->length};
    const int64_t most = RECORD_TIME_MAX / scales[unit];
    int64_t whole, part = 0;
    if (!field_signed(&before, &whole) || whole > most || whole < -most)
        return false;
    if (point && (places[unit] == 0 || point + 1 == end || !decimals(point + 1, end, places[unit], &part)))
        return false;
    *time = whole * scales[unit] + (field->text[0] == '-' ? -part : part);
    return *time <= RECORD_TIME_MAX && *time >= -RECORD_TIME_MAX;
}
