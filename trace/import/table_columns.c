#include "trace/import/table_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/import/table_forms.h"

const char *const table_ours_names[] = {"kind",    "time",      "dur",           "addr",           "bytes",   "flags",
                                        "id",      "group",     "name",          "device",         "process", "grid",
                                        "block",   "grid_x",    "grid_y",        "grid_z",         "block_x", "block_y",
                                        "block_z", "registers", "static_shared", "dynamic_shared", "",        "stream"};
enum { OURS = sizeof table_ours_names / sizeof *table_ours_names };

/* A list in brackets, or without them. */
static int list_init(struct param_list *list, const char *what, const char *text, struct err *err)
{
    const size_t n = strlen(text);
    const bool brackets = n >= 2 && text[0] == '[' && text[n - 1] == ']' && !memchr(text + 1, '[', n - 2);
    char *inner = mem_strndup(text + brackets, n - 2 * (size_t)brackets, err);
    const int rc = inner ? param_list_init(list, inner, err) : -1;
    free(inner);
    if (rc)
        return err_at(err, "%s", what);
    if (list->count == 0 || list->count > PAIRS)
        return err_set(err, "%s: %zu names; expected 1 to %d", what, list->count, PAIRS);
    for (size_t i = 0; i < list->count; i++)
        if (!list->pairs[i].value || !*list->pairs[i].value)
            return err_set(err, "%s: '%.60s' has no other side; expected %s", what, list->pairs[i].key,
                           *what == 'c' ? "OURS=THEIRS" : "THEIRS=KIND");
    return 0;
}

/* KIND or KIND/FLAGS. */
static enum record_kind kind_of(const struct field *text, uint32_t *flags)
{
    char name[32] = "";
    const char *slash = memchr(text->text, '/', text->length);
    const size_t n = slash ? (size_t)(slash - text->text) : text->length;
    const struct field number = {slash ? slash + 1 : "0", slash ? text->length - n - 1 : 1};
    uint64_t value;
    if (n >= sizeof name || !field_unsigned(&number, &value) || value > UINT32_MAX)
        return RECORD_NONE;
    memcpy(name, text->text, n);
    *flags = (uint32_t)value;
    return record_kind_find(name);
}

/* Whether the word is theirs, in which one * is any text; but * alone is no word in brackets. */
static bool stands_for(const char *theirs, const struct field *word)
{
    const char *star = strchr(theirs, '*');
    if (!star)
        return field_is(word, theirs);
    const size_t before = (size_t)(star - theirs), behind = strlen(star + 1);
    return word->length >= before + behind && memcmp(word->text, theirs, before) == 0 &&
           memcmp(word->text + word->length - behind, star + 1, behind) == 0 &&
           (before || behind || *word->text != '[');
}

const char *table_columns_kind(const struct table_columns *t, const struct field *word, struct record *r)
{
    if (!word)
        return "no word for a kind";
    struct field kind = *word;
    for (size_t i = t->kinds.count; i-- > 0;) /* the first counts */
        if (stands_for(t->kinds.pairs[i].key, word))
            kind = (struct field){t->kinds.pairs[i].value, strlen(t->kinds.pairs[i].value)};
    r->kind = kind_of(&kind, &r->flags);
    if (r->kind == RECORD_COPY && !r->flags) {
        char text[64];
        (void)snprintf(text, sizeof text, "%.*s", (int)(word->length < 63 ? word->length : 63), word->text);
        r->flags = record_copy_find(text);
    }
    return r->kind == RECORD_NONE ? "a word that option kinds does not list" : NULL;
}

static int take_kinds(struct table_columns *t, const char *kinds, struct err *err)
{
    uint32_t flags;
    t->only = kinds ? record_kind_find(kinds) : RECORD_NONE;
    if (!kinds || t->only != RECORD_NONE)
        return 0;
    if (list_init(&t->kinds, "kinds", kinds, err))
        return -1;
    for (size_t i = 0; i < t->kinds.count; i++) {
        const char *kind = t->kinds.pairs[i].value;
        if (kind_of(&(struct field){kind, strlen(kind)}, &flags) == RECORD_NONE)
            return err_set(err, "kinds: '%.40s' is no record kind such as DRAM_READ (docs/trace-format.md lists them)",
                           kind);
    }
    return 0;
}

static int take_name(struct table_map *m, const char *key, struct err *err)
{
    for (int i = 0; i < OURS; i++)
        if (*table_ours_names[i] && strcmp(key, table_ours_names[i]) == 0) {
            *m = (struct table_map){.ours = (enum ours)i};
            return 0;
        }
    return err_set(err,
                   "columns: unknown column '%.40s'; expected kind, time, dur, addr, bytes, flags, id, group, name, "
                   "device, process (options time_unit and bytes_unit say units)",
                   key);
}

int table_columns_init(struct table_columns *t, const char *columns, const char *kinds, struct err *err)
{
    *t = (struct table_columns){.known = !columns, .numbered = true};
    if (list_init(&t->columns, "columns", columns ? columns : table_known_columns, err))
        return -1;
    for (size_t i = 0; i < t->columns.count; i++) {
        struct table_map *m = &t->maps[t->count++];
        const char *p = t->columns.pairs[i].value;
        uint64_t at;
        if (take_name(m, t->columns.pairs[i].key, err))
            return -1;
        m->theirs = p;
        const bool number =
            field_digits(&p, &at) && (!*p || strcmp(p, "..") == 0) && at > 0 && at <= TEXT_TABLE_COLUMNS;
        m->at = number ? (long)at - 1 : -1;
        m->many = number && *p && m->ours == ADDR;
        t->numbered &= number && (!*p || m->many);
        t->owners |= m->ours == DEVICE || m->ours == PROCESS;
    }
    return take_kinds(t, columns ? kinds : table_known_kinds, err);
}

void table_columns_release(struct table_columns *t)
{
    param_list_release(&t->columns);
    param_list_release(&t->kinds);
}

/* --- the header --- */

/* Where theirs stands in the header: by its whole title, or without its unit. */
static void find_column(const struct table_columns *t, struct table_map *m, const struct field *cells, size_t n)
{
    m->at = -1;
    m->unit.quantity = QUANTITY_NONE;
    for (size_t i = 0; i < n && m->at < 0; i++) {
        struct field title = cells[i];
        const struct text_unit unit = text_table_title(&title, t->binary);
        if (field_is(&cells[i], m->theirs) || field_is(&title, m->theirs)) {
            m->at = (long)i;
            m->unit = unit;
        }
    }
}

/* Whether the line, which is changed, has all columns that it needs. */
static bool fits(struct table_columns *t, char *line, char separator, const char **missing)
{
    struct field cells[TEXT_TABLE_COLUMNS];
    const size_t n = text_table_split(line, separator, cells);
    for (size_t i = 0; i < t->count && !t->numbered; i++)
        find_column(t, &t->maps[i], cells, n);
    for (size_t i = 0; i < t->count; i++) {
        const struct table_map *m = &t->maps[i];
        const bool needed = !t->known || m->ours == TIME || m->ours == DUR || m->ours == NAME || m->ours == DEVICE;
        if (needed && (m->at < 0 || m->at >= (long)n)) {
            *missing = *missing ? *missing : m->theirs;
            return false;
        }
    }
    t->separator = separator;
    t->width = n;
    return n > 0;
}

int table_columns_header(struct table_columns *t, const char *line, const char **missing, struct err *err)
{
    bool good = false;
    *missing = NULL;
    for (const char *s = TEXT_TABLE_SEPARATORS; *s && !good; s++) {
        char *copy = mem_strdup(line, err);
        if (!copy)
            return -1;
        good = fits(t, copy, *s, missing);
        free(copy);
    }
    if (good && t->known)
        t->binary = !strstr(line, "Start (") && !strstr(line, "Start(");
    return good ? 1 + t->numbered : 0;
}

bool table_columns_units(struct table_columns *t, const struct field *cells, size_t n)
{
    struct text_unit any = {QUANTITY_NONE, 1}, unit;
    size_t units = 0, others = 0;
    for (size_t i = 0; i < n; i++)
        if (text_table_unit(&cells[i], t->binary, &unit)) {
            units++;
            any = unit.quantity == QUANTITY_BYTES ? unit : any;
        } else {
            others += cells[i].length && !memchr(cells[i].text, '/', cells[i].length);
        }
    if (!units || others)
        return false;
    for (size_t i = 0; i < t->count; i++) {
        struct table_map *m = &t->maps[i];
        if (m->at >= 0 && m->at < (long)n && !text_table_unit(&cells[m->at], t->binary, &m->unit) && m->ours == BYTES)
            m->unit = any; /* nvprof leaves it out of a column that counts faults, too */
    }
    return true;
}

const struct table_map *table_columns_find(const struct table_columns *t, const struct field *cells, enum ours ours)
{
    for (const struct table_map *m = t->maps; m < t->maps + t->count; m++)
        if (m->ours == ours && m->at >= 0 && (!cells || cells[m->at].length))
            return m;
    return NULL;
}

bool table_columns_has(const struct table_columns *t, enum ours ours)
{
    return table_columns_find(t, NULL, ours) != NULL;
}
