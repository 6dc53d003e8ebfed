#include "models/base/platform.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "trace/base/embedded.h"
#include "trace/base/ini.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/program_folder.h"
#include "trace/base/random.h"
#include "trace/base/sorted.h"
#include "trace/base/suggest.h"
#include "trace/base/units.h"

enum { PLATFORM_DEPTH_MAX = 4 };

/* --- how a number stands in a file --- */

/* The parts of a line. All point into the text that was cut. */
struct platform_form {
    enum platform_kind kind;
    const char *value;
    const char *as;         /* NAME, NULL: none */
    const char *low, *high; /* NULL: no range */
    const char *why;        /* the source, WHY or WHAT; not empty */
};

static const char white[] = " \t";
static const char *const kinds[PLATFORM_KINDS] = {"sourced", "assumed", "fitted", "as"};
static const char *const forms[PLATFORM_KINDS] = {"VALUE | where it comes from", "VALUE | assumed LOW..HIGH: why",
                                                  "VALUE | fitted LOW..HIGH: to what",
                                                  "VALUE | as NAME LOW..HIGH: why"};

const char *platform_kind_name(enum platform_kind kind)
{
    return kinds[kind];
}

/* Cut the text at the first of `stops`; returns the part before it, *text stands behind it; NULL: there is none. */
static char *cut(char **text, const char *stops)
{
    char *start = *text, *stop = strpbrk(start, stops);
    if (!stop)
        return NULL;
    *stop = 0;
    *text = stop + 1;
    return ini_trim(start, white);
}

/* "LOW..HIGH" to two texts; without `range` there is none. False: it is something else. */
static bool cut_range(char *range, struct platform_form *form)
{
    char *dots = strstr(range, "..");
    if (!*range)
        return true;
    if (!dots || strpbrk(range, white))
        return false;
    *dots = 0;
    form->low = range;
    form->high = dots + 2;
    return *form->low && *form->high;
}

/* The kind that the first word names; *rest stands behind the word. */
static enum platform_kind first_word(char *text, char **rest)
{
    size_t n = strcspn(text, " \t:,;");
    for (int kind = PLATFORM_ASSUMED; kind < PLATFORM_KINDS; kind++)
        if (strlen(kinds[kind]) == n && memcmp(text, kinds[kind], n) == 0) {
            *rest = text + n;
            return (enum platform_kind)kind;
        }
    *rest = text;
    return PLATFORM_SOURCED;
}

/* "NAME LOW..HIGH" or "LOW..HIGH", before the colon. */
static bool cut_claim(char *claim, struct platform_form *form)
{
    if (form->kind == PLATFORM_AS) {
        size_t n = strcspn(claim, white);
        form->as = claim;
        claim += n;
        if (n == 0)
            return false;
        if (*claim)
            *claim++ = 0;
    }
    return cut_range(ini_trim(claim, white), form);
}

static int split(char *text, const char *key, struct platform_form *form, char **rest, struct err *err)
{
    *form = (struct platform_form){.kind = PLATFORM_SOURCED};
    form->value = cut(&text, "|");
    if (!form->value)
        return err_set(err, "%.60s has no source; expected '%.60s = %s'", key, key, forms[PLATFORM_SOURCED]);
    *rest = ini_trim(text, white);
    if (!**rest)
        return err_set(err, "%.60s has an empty source after '|'", key);
    return 0;
}

/* Cut what stands behind `key =` into its parts; `text` is written to. -1 with *err set: what was expected. */
static int platform_form_cut(char *text, const char *key, struct platform_form *form, struct err *err)
{
    char *rest;
    if (split(text, key, form, &rest, err))
        return -1;
    form->kind = first_word(rest, &rest);
    form->why = rest;
    if (form->kind == PLATFORM_SOURCED)
        return 0;
    char *claim = cut(&rest, ":");
    form->why = ini_trim(rest, white);
    if (claim && cut_claim(claim, form) && *form->why)
        return 0;
    return err_set(err, "%.60s: what stands after '|' begins with '%s'; expected '%.60s = %s'", key, kinds[form->kind],
                   key, forms[form->kind]);
}

/* The same of a section's `as = NAME | LOW..HIGH: WHY` and `as = none | WHY`. */
static int platform_form_cut_section(char *text, struct platform_form *form, struct err *err)
{
    char *rest;
    if (split(text, "as", form, &rest, err))
        return -1;
    form->kind = PLATFORM_AS;
    form->as = form->value;
    form->why = rest;
    if (strcmp(form->as, "none") == 0)
        return 0;
    char *range = cut(&rest, ":");
    form->why = ini_trim(rest, white);
    if (*form->as && range && cut_range(range, form) && form->low && *form->why)
        return 0;
    return err_set(err, "expected 'as = NAME | LOW..HIGH: why', LOW..HIGH a factor of NAME's times, or 'as = none | "
                        "why'");
}

/* --- one number --- */

static int set_value(struct platform_part *part, const char *key, const char *text, const char *end, double *number,
                     struct err *err)
{
    if (param_set(part->section->params, part->values, key, text, err))
        return err_at(err, "%s of the range", end);
    *number = param_number(param_find(part->section->params, key), part->values);
    return 0;
}

/* Low and high into *n, then the value, which must lie between them. */
static int set_ranged(struct platform_part *part, const struct param *row, const struct platform_form *form,
                      struct platform_number *n, struct err *err)
{
    if (row->type == PARAM_TEXT && form->low)
        return err_set(err, "%s is a text, which has no range: '%s: why'", row->name, platform_kind_name(form->kind));
    if (row->type != PARAM_TEXT && form->kind != PLATFORM_SOURCED && !form->low)
        return err_set(err, "%s is %s without a range; expected '%s%s LOW..HIGH: why'", row->name,
                       platform_kind_name(form->kind), platform_kind_name(form->kind), form->as ? " NAME" : "");
    if (form->low && (set_value(part, row->name, form->low, "low end", &n->low, err) ||
                      set_value(part, row->name, form->high, "high end", &n->high, err)))
        return -1;
    if (param_set(part->section->params, part->values, row->name, form->value, err))
        return -1;
    double value = param_number(row, part->values);
    if (!form->low)
        n->low = n->high = value;
    if (n->low <= value && value <= n->high)
        return 0;
    return err_set(err, "%s is %.60s, outside its range %.60s..%.60s", row->name, form->value, form->low, form->high);
}

/* Take `VALUE | ..` for one number. */
static int platform_state(struct platform *platform, struct platform_part *part, const char *key, const char *text,
                          enum platform_state state, struct err *err)
{
    struct platform_form form;
    char *kept = mem_keep(&platform->texts, text, err);
    if (!kept || platform_form_cut(kept, key, &form, err))
        return -1;
    const struct param *row = param_find(part->section->params, key);
    if (!row) /* says which there are */
        return param_set(part->section->params, part->values, key, form.value, err);
    struct platform_number n = {.state = state, .kind = form.kind, .as = form.as, .source = form.why};
    if (set_ranged(part, row, &form, &n, err))
        return -1;
    part->numbers[row - part->section->params] = n;
    part->stated |= state == PLATFORM_STATED;
    return 0;
}

/* --- all of them --- */

static int state_general(struct platform *platform, struct platform_part *part, const struct platform_general *g,
                         struct err *err)
{
    const struct param *row = param_find(part->section->params, g->key);
    char value[256], text[512];
    if (!row)
        return err_set(err, "[%s] has a general default for %s, but no such number", part->section->name, g->key);
    (void)snprintf(text, sizeof text, "%s | %s", param_format(row, part->values, value, sizeof value), g->rest);
    return platform_state(platform, part, g->key, text, PLATFORM_GENERAL, err);
}

/* A section as platform_new() leaves it. */
static int platform_part_clear(struct platform *platform, struct platform_part *part, struct err *err)
{
    memset(part->values, 0, part->section->size);
    memset(part->numbers, 0, part->count * sizeof *part->numbers);
    param_defaults(part->section->params, part->values);
    part->stated = false;
    part->none = NULL;
    part->borrowed = (struct platform_borrowed){0};
    for (const struct platform_general *g = part->section->general; g && g->key; g++)
        if (state_general(platform, part, g, err))
            return -1;
    return 0;
}

static int add_part(struct platform *platform, const struct platform_section *section, struct err *err)
{
    struct platform_part *part = &platform->parts[platform->part_count++];
    part->section = section;
    while (section->params[part->count].name)
        part->count++;
    part->values = mem_zalloc(1, section->size, err);
    part->numbers = mem_zalloc(part->count, sizeof *part->numbers, err);
    return part->values && part->numbers ? 0 : -1;
}

static struct platform *new_empty(struct err *err)
{
    struct platform *platform = mem_zalloc(1, sizeof *platform, err);
    for (size_t s = 0; platform && platform_sections[s]; s++)
        if (add_part(platform, platform_sections[s], err)) {
            platform_free(platform);
            return NULL;
        }
    return platform;
}

/* All sections with their general defaults and nothing stated. */
static struct platform *platform_new(struct err *err)
{
    struct platform *platform = new_empty(err);
    for (size_t i = 0; platform && i < platform->part_count; i++)
        if (platform_part_clear(platform, &platform->parts[i], err)) {
            platform_free(platform);
            return NULL;
        }
    return platform;
}

/* *text as a text of the platform's own. */
static int own(struct platform *platform, const char **text, struct err *err)
{
    return *text && !(*text = mem_keep(&platform->texts, *text, err)) ? -1 : 0;
}

static int copy_part(struct platform *to, struct platform_part *part, const struct platform_part *from, struct err *err)
{
    memcpy(part->values, from->values, part->section->size);
    memcpy(part->numbers, from->numbers, part->count * sizeof *part->numbers);
    part->stated = from->stated;
    part->none = from->none;
    part->borrowed = from->borrowed;
    if (own(to, &part->none, err) || own(to, &part->borrowed.as, err) || own(to, &part->borrowed.why, err))
        return -1;
    for (size_t i = 0; i < part->count; i++) {
        const struct param *row = &part->section->params[i];
        const char **text = (const char **)((char *)part->values + row->offset);
        if (own(to, &part->numbers[i].as, err) || own(to, &part->numbers[i].source, err) ||
            (row->type == PARAM_TEXT && own(to, text, err)))
            return -1;
    }
    return 0;
}

struct platform *platform_copy(const struct platform *from, struct err *err)
{
    struct platform *to = new_empty(err);
    if (!to)
        return NULL;
    memcpy(to->name, from->name, sizeof to->name);
    memcpy(to->summary, from->summary, sizeof to->summary);
    memcpy(to->from, from->from, sizeof to->from);
    memcpy(to->gpus, from->gpus, sizeof to->gpus);
    memcpy(to->compute, from->compute, sizeof to->compute);
    for (size_t i = 0; i < to->part_count; i++)
        if (copy_part(to, &to->parts[i], &from->parts[i], err)) {
            platform_free(to);
            return NULL;
        }
    return to;
}

void platform_free(struct platform *platform)
{
    if (!platform)
        return;
    for (size_t s = 0; s < platform->part_count; s++) {
        free(platform->parts[s].values);
        free(platform->parts[s].numbers);
    }
    mem_texts_release(&platform->texts);
    free(platform);
}

/* --- asking --- */

bool platform_is_of(const struct platform *platform, const char *gpu)
{
    size_t n = strlen(gpu);
    for (const char *p = platform->gpus; *p && n;) {
        p += strspn(p, " ,");
        size_t length = strcspn(p, ",");
        if (strncasecmp(p, gpu, n) == 0 && (length == n || strspn(p + n, " ") + n == length))
            return true;
        p += length;
    }
    return false;
}

/* The section of that name, or NULL. */
static struct platform_part *platform_part(struct platform *platform, const char *section)
{
    for (size_t s = 0; s < platform->part_count; s++)
        if (strcmp(platform->parts[s].section->name, section) == 0)
            return &platform->parts[s];
    return NULL;
}

static const struct platform_part *part_of(const struct platform *platform, const char *section)
{
    return platform_part((struct platform *)platform, section);
}

const void *platform_section_get(const struct platform *platform, const char *section)
{
    const struct platform_part *part = part_of(platform, section);
    return part ? part->values : NULL;
}

static const char *text_of(const struct param *row, const void *values)
{
    const char *text = param_text(row, values);
    return text ? text : "";
}

static bool named(const char *const *names, const char *name)
{
    while (names && *names && strcmp(*names, name) != 0)
        names++;
    return names && *names;
}

bool platform_same(const struct platform *a, const struct platform *b, const char *section, const char *const *but)
{
    const struct platform_part *x = part_of(a, section), *y = part_of(b, section);
    bool same = x && y;
    for (size_t i = 0; same && i < x->count; i++) {
        const struct param *row = &x->section->params[i];
        if (named(but, row->name))
            continue;
        same = row->type == PARAM_TEXT ? strcmp(text_of(row, x->values), text_of(row, y->values)) == 0
                                       : param_number(row, x->values) == param_number(row, y->values);
    }
    return same;
}

bool platform_has(const struct platform *platform, const char *section)
{
    const struct platform_part *part = part_of(platform, section);
    return part && part->stated;
}

const struct platform_number *platform_number(const struct platform *platform, const char *section, const char *key)
{
    const struct platform_part *part = part_of(platform, section);
    const struct param *row = part ? param_find(part->section->params, key) : NULL;
    return row ? &part->numbers[row - part->section->params] : NULL;
}

const struct platform_borrowed *platform_borrowed(const struct platform *platform, const char *section)
{
    const struct platform_part *part = part_of(platform, section);
    return part && part->borrowed.as ? &part->borrowed : NULL;
}

const char *platform_none(const struct platform *platform, const char *section)
{
    const struct platform_part *part = part_of(platform, section);
    return part ? part->none : NULL;
}

/* --- overriding --- */

static int set_given(struct platform *platform, struct platform_part *part, const char *name, const char *value,
                     struct err *err)
{
    const char *kept = value ? mem_keep(&platform->texts, value, err) : NULL;
    if ((value && !kept) || param_set(part->section->params, part->values, name, kept, err))
        return -1;
    const struct param *row = param_find(part->section->params, name);
    double number = param_number(row, part->values);
    part->numbers[row - part->section->params] = (struct platform_number){
        .state = PLATFORM_STATED, .given = true, .source = "given on the command line", .low = number, .high = number};
    part->stated = true;
    return 0;
}

static int no_such_number(const char *key, const struct param *settings, struct err *err)
{
    const char *dot = strchr(key, '.');
    struct suggest suggest = {.word = dot ? dot + 1 : key};
    char hint[SUGGEST_HINT];
    for (const struct param *p = settings; p && p->name; p++)
        suggest_offer(&suggest, p->name);
    for (size_t s = 0; platform_sections[s]; s++)
        for (const struct param *p = platform_sections[s]->params; p->name; p++)
            suggest_offer(&suggest, p->name);
    return err_set(err, "'%.60s' is neither a setting of the engine nor a number of the platform%s", key,
                   suggest_hint(&suggest, hint, sizeof hint));
}

/* The sections that have the key: [pcie], [uvm]. */
struct owners {
    const struct platform_section *first, *second; /* NULL: none, no second one */
    char text[120];
};

/* Those in `sections` (NULL: all) that have `name`; of a key with a section, that one. */
static struct owners owners_of(const struct platform *platform, const char *key, const char *const *sections)
{
    const char *dot = strchr(key, '.');
    struct owners o = {0};
    for (size_t s = 0; s < platform->part_count; s++) {
        const struct platform_section *ps = platform->parts[s].section;
        const bool other = dot && (strlen(ps->name) != (size_t)(dot - key) || strncmp(ps->name, key, dot - key) != 0);
        if (other || (sections && !named(sections, ps->name)) || !param_find(ps->params, dot ? dot + 1 : key))
            continue;
        (void)mem_add_text(o.text, sizeof o.text, "%s[%s]", o.first ? ", " : "", ps->name);
        *(o.first ? &o.second : &o.first) = ps;
    }
    return o;
}

static bool is_besides(const char *const *besides, const struct platform_section *section, const char *bare)
{
    char whole[128];
    (void)snprintf(whole, sizeof whole, "%s.%s", section->name, bare);
    return named(besides, whole);
}

static int not_read(const char *key, const struct owners *all, const char *const *sections, struct err *err)
{
    char read[120] = "";
    for (; *sections; sections++)
        (void)mem_add_text(read, sizeof read, "%s[%s]", *read ? ", " : "", *sections);
    return err_set(err, "'%.60s' is a number of %s, which has no effect here; what is read is %s", key, all->text,
                   read);
}

const struct platform_section *platform_section_of(const struct platform *platform, const char *key,
                                                   const struct platform_scope *scope, struct err *err)
{
    const char *dot = strchr(key, '.'), *bare = dot ? dot + 1 : key;
    const struct owners all = owners_of(platform, key, NULL);
    if (!all.first) {
        (void)no_such_number(key, scope ? scope->settings : NULL, err);
        return NULL;
    }
    if (!scope || !scope->sections)
        return all.first;
    const struct owners in_use = owners_of(platform, key, scope->sections);
    if (in_use.second) {
        (void)err_set(err, "'%.60s' is a number of %s: give %s.%.60s or %s.%.60s", key, in_use.text, in_use.first->name,
                      bare, in_use.second->name, bare);
        return NULL;
    }
    const struct platform_section *const others[] = {all.first, all.second};
    for (size_t i = 0; i < 2 && !in_use.first; i++)
        if (others[i] && is_besides(scope->besides, others[i], bare))
            return others[i];
    if (!in_use.first)
        (void)not_read(key, &all, scope->sections, err);
    return in_use.first;
}

int platform_set(struct platform *platform, const char *key, const char *value, const struct platform_scope *scope,
                 struct err *err)
{
    const struct platform_section *section = platform_section_of(platform, key, scope, err);
    const char *dot = strchr(key, '.');
    return section ? set_given(platform, platform_part(platform, section->name), dot ? dot + 1 : key, value, err) : -1;
}

/* --- shipped platforms --- */

/* Installed files: share/offchip/platforms/NAME.ini. */
enum { NAME_BYTES = 64, NAMES_MAX = 256 };

static const char embedded_folder[] = "models/platforms/", end[] = ".ini";

static char installed_folder[PATH_MAX]; /* "": there is none */
static char names[NAMES_MAX][NAME_BYTES];
static size_t name_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add_name(const char *file)
{
    size_t n = strlen(file);
    if (n < sizeof end || n - sizeof end + 1 >= NAME_BYTES || strcmp(file + n - sizeof end + 1, end) != 0 ||
        *file == '.' || name_count == NAMES_MAX)
        return;
    char name[NAME_BYTES] = "";
    memcpy(name, file, n - sizeof end + 1);
    for (size_t i = 0; i < name_count; i++)
        if (strcmp(names[i], name) == 0)
            return;
    memcpy(names[name_count++], name, sizeof name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Beside BIN/offchip; a bundle's program is run from ROOT/lib/offchip. */
static void find_folder(void)
{
    static const char *const places[] = {"/../share/offchip/platforms", "/../../share/offchip/platforms"};
    char program[PATH_MAX], folder[PATH_MAX + 64];
    if (!program_folder(program))
        return;
    for (size_t i = 0; i < sizeof places / sizeof *places && !*installed_folder; i++) {
        (void)snprintf(folder, sizeof folder, "%s%s", program, places[i]);
        if (access(folder, F_OK) == 0 && !realpath(folder, installed_folder))
            *installed_folder = 0;
    }
}

static void find_names(void)
{
    for (size_t f = 0; embedded_files[f].path; f++)
        if (strncmp(embedded_files[f].path, embedded_folder, sizeof embedded_folder - 1) == 0)
            add_name(embedded_files[f].path + sizeof embedded_folder - 1);
    find_folder();
    DIR *folder = *installed_folder ? opendir(installed_folder) : NULL;
    for (struct dirent *e; folder && (e = readdir(folder));)
        add_name(e->d_name);
    if (folder)
        (void)closedir(folder);
    sort_items(names, name_count, sizeof *names, by_name);
}

const char *platform_shipped(size_t i, char *buf, size_t size)
{
    (void)pthread_once(&once, find_names);
    if (i >= name_count)
        return NULL;
    (void)snprintf(buf, size, "%.*s", NAME_BYTES - 1, names[i]);
    return buf;
}

static const char *embedded(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s%s%s", embedded_folder, name, end);
    return embedded_text(path);
}

/* Whether the summary of a shipped platform has that word: agx is a Xavier. */
static bool is_told_of(const char *platform, const char *word)
{
    const char *text = embedded(platform), *summary = text ? strstr(text, "\nsummary = ") : NULL;
    const char *found = summary && strlen(word) > 2 ? strcasestr(summary, word) : NULL;
    return found && found < strchr(summary + 1, '\n');
}

static int no_such_platform(const char *name, struct err *err)
{
    char shipped[NAME_BYTES], hint[96];
    struct suggest suggest = {.word = name};
    for (size_t i = 0; platform_shipped(i, shipped, sizeof shipped); i++)
        suggest_offer(&suggest, shipped);
    for (size_t i = 0; !suggest.distance && platform_shipped(i, shipped, sizeof shipped); i++)
        if (is_told_of(shipped, name)) {
            suggest.distance = 1;
            (void)snprintf(suggest.best, sizeof suggest.best, "%s", shipped);
        }
    return err_set(err, "no platform is called '%.100s'; see 'offchip list platforms', or name an .ini file%s", name,
                   suggest_hint(&suggest, hint, sizeof hint));
}

/* The text of a shipped platform, or "" and the *path of an installed file. NULL with *err set: there is none. */
static const char *platform_shipped_text(const char *name, char *path, size_t size, struct err *err)
{
    *path = 0;
    (void)pthread_once(&once, find_names);
    char file[sizeof installed_folder + NAME_BYTES + 8];
    (void)snprintf(file, sizeof file, "%s/%.*s%s", installed_folder, NAME_BYTES - 1, name, end);
    const char *text = embedded(name);
    if (*installed_folder && strlen(name) < NAME_BYTES && access(file, F_OK) == 0) {
        (void)snprintf(path, size, "%s", file);
        return "";
    }
    if (!text)
        no_such_platform(name, err);
    return text;
}

/* --- reading --- */

/* Read `name_or_file` into the platform, as its base or lender where depth > 0. */
static int platform_read(struct platform *platform, const char *name_or_file, int depth, struct err *err);

/* What the reader's callback needs. */
struct load {
    struct platform *platform;
    int depth;
    bool named, summarised;              /* by this file, so far */
    bool touched[PLATFORM_SECTIONS_MAX]; /* a number of it was read from this file */
};

/* --- [platform] --- */

/* What the base calls itself gives way to what this file said before it. */
static int load_base(struct load *load, const char *base, struct err *err)
{
    struct platform *p = load->platform;
    char name[sizeof p->name], summary[sizeof p->summary];
    memcpy(name, p->name, sizeof name);
    memcpy(summary, p->summary, sizeof summary);
    for (size_t s = 0; s < PLATFORM_SECTIONS_MAX; s++)
        if (load->touched[s])
            return err_set(err, "base stands behind [%s]; expected it before all numbers", p->parts[s].section->name);
    if (platform_read(p, base, load->depth + 1, err))
        return -1;
    if (load->named)
        memcpy(p->name, name, sizeof name);
    if (load->summarised)
        memcpy(p->summary, summary, sizeof summary);
    if (load->depth == 0 && strcmp(p->from, "shipped") != 0)
        (void)mem_add_text(p->from, sizeof p->from, ", on base %s", base);
    return 0;
}

static int set_text(char *to, size_t size, const char *key, const char *value, struct err *err)
{
    size_t n = strlen(value);
    if (n >= size)
        return err_set(err, "%s has %zu bytes; expected at most %zu", key, n, size - 1);
    memcpy(to, value, n + 1);
    return 0;
}

static int set_head(struct load *load, const char *key, const char *value, struct err *err)
{
    struct platform *p = load->platform;
    if (strcmp(key, "base") == 0)
        return load_base(load, value, err);
    if (strcmp(key, "name") == 0) {
        load->named = true;
        return set_text(p->name, sizeof p->name, key, value, err);
    }
    if (strcmp(key, "summary") == 0) {
        load->summarised = true;
        return set_text(p->summary, sizeof p->summary, key, value, err);
    }
    if (strcmp(key, "compute") == 0)
        return set_text(p->compute, sizeof p->compute, key, value, err);
    if (strcmp(key, "gpus") == 0) /* a base's are its own */
        return load->depth ? 0 : set_text(p->gpus, sizeof p->gpus, key, value, err);
    return err_set(err, "'%.60s' is not known in [platform]; expected name, summary, base, gpus or compute", key);
}

/* --- numbers --- */

/* +1: a time, which a factor multiplies; -1: a rate, which it divides; 0: neither, as cycles (the clock moves). */
static int platform_moves(const struct param *row)
{
    static const struct {
        const char *unit;
        int moves;
    } units[] = {{"ns", 1}, {"ms", 1}, {"ns/byte", 1}, {"ms/byte", 1}, {"bytes/s", -1}, {"Hz", -1}, {"GT/s", -1}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(row->unit, units[i].unit) == 0)
            return units[i].moves;
    return 0;
}

/* The number moved by a factor, within the row's range. */
static double platform_times(const struct param *row, double value, double factor)
{
    double moved = platform_moves(row) > 0 ? value * factor : value / factor;
    return moved < row->lo ? row->lo : moved > row->hi ? row->hi : moved;
}

static int take_number(struct platform_part *part, size_t i, const struct platform_part *lender,
                       struct platform *platform, struct err *err)
{
    const struct param *row = &part->section->params[i];
    struct platform_number *n = &part->numbers[i];
    const bool unlent = part->section->unlent && strcmp(row->name, part->section->unlent) == 0;
    if (unlent)
        param_put_number(row, part->values, row->value);
    if (unlent || lender->numbers[i].state != PLATFORM_STATED)
        return 0;
    *n = lender->numbers[i];
    n->kind = PLATFORM_AS;
    n->borrowed = true;
    n->as = part->borrowed.as;
    n->source = mem_keep(&platform->texts, n->source, err);
    if (row->type == PARAM_TEXT) {
        const char **text = (const char **)((char *)part->values + row->offset);
        *text = mem_keep(&platform->texts, *text, err);
        return n->source && *text ? 0 : -1;
    }
    n->moves = platform_moves(row) && row->type != PARAM_CHOICE;
    if (n->moves) {
        double value = param_number(row, part->values), a = platform_times(row, value, part->borrowed.low),
               b = platform_times(row, value, part->borrowed.high);
        n->low = a < b ? a : b;
        n->high = a < b ? b : a;
    }
    return n->source ? 0 : -1;
}

static int take_section(struct platform *platform, struct platform_part *part, const struct platform_part *lender,
                        struct err *err)
{
    const char *as = part->borrowed.as, *section = part->section->name;
    if (lender->borrowed.as)
        return err_set(err, "%s borrows its [%s] from %s itself; name %s", as, section, lender->borrowed.as,
                       lender->borrowed.as);
    if (!lender->stated)
        return err_set(err, "%s has no [%s] to borrow", as, section);
    memcpy(part->values, lender->values, part->section->size);
    part->stated = true;
    for (size_t i = 0; i < part->count; i++)
        if (take_number(part, i, lender, platform, err))
            return -1;
    return 0;
}

static int set_factor(struct platform_borrowed *b, const struct platform_form *form, struct err *err)
{
    if (units_parse_real(form->low, &b->low, err) || units_parse_real(form->high, &b->high, err))
        return err_at(err, "as: the factor's range");
    if (!(b->low > 0 && b->low <= 1 && b->high >= 1 && b->high <= 1e6))
        return err_set(err, "as: the factor's range is %.20s..%.20s; expected 0 < LOW <= 1 <= HIGH <= 1e6", form->low,
                       form->high);
    return 0;
}

static int borrow(struct load *load, size_t s, const char *text, struct err *err)
{
    struct platform *p = load->platform;
    struct platform_part *part = &p->parts[s];
    struct platform_form form;
    char *kept = mem_keep(&p->texts, text, err);
    if (!kept || platform_form_cut_section(kept, &form, err))
        return -1;
    if (load->touched[s])
        return err_set(err, "as stands behind numbers of [%s]; expected it first", part->section->name);
    if (platform_part_clear(p, part, err))
        return -1;
    load->touched[s] = true;
    if (strcmp(form.as, "none") == 0) {
        part->none = form.why;
        return 0;
    }
    part->borrowed = (struct platform_borrowed){.as = form.as, .why = form.why};
    if (set_factor(&part->borrowed, &form, err))
        return -1;
    struct platform *lender = platform_new(err);
    int rc = lender ? platform_read(lender, form.as, load->depth + 1, err) : -1;
    if (rc == 0)
        rc = take_section(p, part, &lender->parts[s], err);
    platform_free(lender);
    return rc;
}

static int set_number(struct load *load, size_t s, const char *key, const char *text, struct err *err)
{
    struct platform_part *part = &load->platform->parts[s];
    if (strcmp(key, "as") == 0)
        return borrow(load, s, text, err);
    if (part->none && load->touched[s])
        return err_set(err, "[%s] says 'as = none': it cannot have a number as well", part->section->name);
    part->none = NULL;
    load->touched[s] = true;
    return platform_state(load->platform, part, key, text, PLATFORM_STATED, err);
}

/* --- files --- */

static int unknown_section(const char *section, struct err *err)
{
    char known[200] = "";
    for (size_t s = 0; platform_sections[s]; s++)
        (void)mem_add_text(known, sizeof known, " [%s]", platform_sections[s]->name);
    return err_set(err, "[%.60s] is not a known section; expected [platform]%s", section, known);
}

/* Key NULL: the section begins. */
static int on_value(void *ctx, const char *section, const char *key, const char *value, struct err *err)
{
    struct load *load = ctx;
    if (strcmp(section, "platform") == 0)
        return key ? set_head(load, key, value, err) : 0;
    const struct platform_part *part = part_of(load->platform, section);
    if (!part)
        return unknown_section(section, err);
    return key ? set_number(load, (size_t)(part - load->platform->parts), key, value, err) : 0;
}

static bool is_file(const char *name)
{
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".ini") == 0);
}

/* Whether a file said anything at all. */
static bool says_something(const struct platform *platform)
{
    for (size_t s = 0; s < platform->part_count; s++)
        if (platform->parts[s].stated || platform->parts[s].none)
            return true;
    return false;
}

static int read_shipped(struct platform *platform, const char *name, int depth, const struct ini_reader *reader,
                        struct err *err)
{
    char path[4400];
    const char *text = platform_shipped_text(name, path, sizeof path, err);
    if (!text)
        return -1;
    if (depth == 0)
        (void)snprintf(platform->from, sizeof platform->from, "%s%s", *path ? "installed, " : "shipped", path);
    return *path ? ini_read_file(path, reader, err) : ini_read_text(name, text, strlen(text), reader, err);
}

static int platform_read(struct platform *platform, const char *name_or_file, int depth, struct err *err)
{
    if (depth > PLATFORM_DEPTH_MAX)
        return err_set(err, "platform '%.100s': 'base' or 'as' goes more than %d levels deep", name_or_file,
                       PLATFORM_DEPTH_MAX);
    struct load load = {.platform = platform, .depth = depth};
    const struct ini_reader reader = {on_value, &load};
    if (!is_file(name_or_file))
        return read_shipped(platform, name_or_file, depth, &reader, err);
    if (depth == 0)
        (void)snprintf(platform->from, sizeof platform->from, "%s", name_or_file);
    if (ini_read_file(name_or_file, &reader, err))
        return -1;
    return says_something(platform) ? 0
                                    : err_set(err,
                                              "%s: no number in it; expected a section such as [gpu] with 'key = VALUE "
                                              "| source', or 'base = NAME' in [platform]",
                                              name_or_file);
}

struct platform *platform_load(const char *name_or_file, struct err *err)
{
    struct platform *platform = platform_new(err);
    if (!platform)
        return NULL;
    (void)snprintf(platform->name, sizeof platform->name, "%s", name_or_file);
    if (platform_read(platform, name_or_file, 0, err)) {
        platform_free(platform);
        return NULL;
    }
    return platform;
}

/* --- whole platforms --- */

/* What lacks is added up to this many names. */
enum { NAMES = 6 };

static bool is_whole(const struct platform_part *part)
{
    for (size_t i = 0; i < part->count; i++)
        if (part->numbers[i].state == PLATFORM_UNSTATED)
            return false;
    return part->stated;
}

/* "titanv, v100": the shipped platforms whose section is whole, those that borrow it left out. */
static const char *who_has(const char *section, char *buf, size_t size)
{
    char name[64];
    buf[0] = 0;
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct platform *p = platform_load(name, NULL);
        struct platform_part *part = p ? platform_part(p, section) : NULL;
        if (part && is_whole(part) && !part->borrowed.as)
            (void)mem_add_text(buf, size, "%s%s", *buf ? ", " : "", name);
        platform_free(p);
    }
    return *buf ? buf : "none";
}

static int no_section(const struct platform *platform, const struct platform_part *part, struct err *err)
{
    const char *section = part->section->name;
    char who[160];
    who_has(section, who, sizeof who);
    if (part->none)
        return err_set(err, "platform %s has no [%s]: %.200s; platforms that have: %s", platform->name, section,
                       part->none, who);
    return err_set(err,
                   "platform %s has no [%s] numbers; platforms that have: %s. A file with 'base = %s' may borrow: [%s] "
                   "with 'as = NAME | LOW..HIGH: why'",
                   platform->name, section, who, platform->name, section);
}

static int no_numbers(const struct platform *platform, const struct platform_part *part, struct err *err)
{
    const char *section = part->section->name, *first = NULL;
    char lacking[240] = "";
    size_t n = 0;
    for (size_t i = 0; i < part->count; i++) {
        const char *key = part->section->params[i].name;
        if (part->numbers[i].state != PLATFORM_UNSTATED)
            continue;
        first = first ? first : key;
        if (n++ < NAMES)
            (void)mem_add_text(lacking, sizeof lacking, "%s%s.%s", *lacking ? ", " : "", section, key);
    }
    char more[40] = "";
    if (n > NAMES)
        (void)snprintf(more, sizeof more, " and %zu more", n - NAMES);
    return err_set(err, "platform %s states no %s%s; --set %s.%s=NUMBER gives it, or the platform's file does",
                   platform->name, lacking, more, section, first);
}

int platform_whole(const struct platform *platform, const char *section, struct err *err)
{
    const struct platform_part *part = platform_part((struct platform *)platform, section);
    if (!part)
        return err_set(err, "no platform has a section [%s]", section);
    if (is_whole(part))
        return 0;
    return part->stated ? no_numbers(platform, part, err) : no_section(platform, part, err);
}

/* --- draws --- */

/* A range wider than this is drawn evenly in its logarithm. */
static const double log_above = 4;

/* --- axes --- */

static bool number_axis(const struct platform_part *part, size_t row, struct platform_axis *axis)
{
    const struct platform_number *n = &part->numbers[row];
    const struct param *param = &part->section->params[row];
    if (n->kind == PLATFORM_SOURCED || n->moves || n->low == n->high || param->type == PARAM_TEXT)
        return false;
    *axis =
        (struct platform_axis){part->section->name, param, n->kind, n->low, n->high, param_number(param, part->values)};
    return true;
}

static bool factor_axis(const struct platform_part *part, struct platform_axis *axis)
{
    const struct platform_borrowed *b = &part->borrowed;
    if (!b->as || b->low == b->high)
        return false;
    *axis = (struct platform_axis){part->section->name, NULL, PLATFORM_AS, b->low, b->high, 1};
    return true;
}

bool platform_axis(const struct platform *platform, size_t i, struct platform_axis *axis)
{
    for (size_t s = 0; s < platform->part_count; s++) {
        const struct platform_part *part = &platform->parts[s];
        if (factor_axis(part, axis) && i-- == 0)
            return true;
        for (size_t row = 0; row < part->count; row++)
            if (number_axis(part, row, axis) && i-- == 0)
                return true;
    }
    return false;
}

/* --- moving along one --- */

static bool is_choice(const struct platform_axis *axis)
{
    return axis->row && axis->row->type == PARAM_CHOICE;
}

static bool in_log(const struct platform_axis *axis)
{
    return axis->low > 0 && (!axis->row || axis->high / axis->low > log_above);
}

static double between(const struct platform_axis *axis, double share)
{
    double low = axis->low, high = axis->high;
    if (is_choice(axis))
        return fmin(low + floor(share * (high - low + 1)), high);
    if (share >= 1)
        return high;
    double value = in_log(axis) ? low * pow(high / low, share) : low + share * (high - low);
    return fmin(fmax(value, low), high);
}

const char *platform_axis_name(const struct platform_axis *axis, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%s.%s", axis->section, axis->row ? axis->row->name : "as");
    return buf;
}

double platform_axis_at(const struct platform_axis *axis, double share)
{
    double value = between(axis, share);
    return axis->row && axis->row->type != PARAM_REAL ? (double)llround(value) : value;
}

double platform_axis_share(const struct platform_axis *axis, double value)
{
    double low = axis->low, high = axis->high;
    if (is_choice(axis))
        return (value - low + 0.5) / (high - low + 1);
    return in_log(axis) ? log(value / low) / log(high / low) : (value - low) / (high - low);
}

static void put(struct platform_part *part, size_t row, double value)
{
    const struct param *param = &part->section->params[row];
    param_put_number(param, part->values, value);
    part->numbers[row].low = part->numbers[row].high = param_number(param, part->values);
}

/* The factor of a section that is another's: all that moves with it moves. */
static void multiply(struct platform_part *part, double factor)
{
    for (size_t row = 0; row < part->count; row++)
        if (part->numbers[row].moves) {
            const struct param *param = &part->section->params[row];
            put(part, row, platform_times(param, param_number(param, part->values), factor));
        }
    part->borrowed.low = part->borrowed.high = factor;
}

/* A copy has the same axes in the same place: what was moved has no width any more. */
static void move(struct platform *to, const struct platform_axis *axis, double share)
{
    struct platform_part *part = platform_part(to, axis->section);
    double value = between(axis, share);
    if (axis->row)
        put(part, (size_t)(axis->row - part->section->params), value);
    else
        multiply(part, value);
}

struct platform *platform_moved(const struct platform *platform, size_t i, double share, struct err *err)
{
    struct platform_axis axis;
    if (!platform_axis(platform, i, &axis)) {
        err_set(err, "platform %s has no axis %zu", platform->name, i);
        return NULL;
    }
    struct platform *moved = platform_copy(platform, err);
    if (moved)
        move(moved, &axis, share);
    return moved;
}

static uint64_t name_of(uint64_t seed, const struct platform_axis *axis)
{
    uint64_t h = random_mix(seed);
    for (const char *p = axis->section; *p; p++)
        h = random_mix(h ^ (unsigned char)*p);
    for (const char *p = axis->row ? axis->row->name : "as"; *p; p++)
        h = random_mix(h ^ (unsigned char)*p << 8);
    return h;
}

/* Where `at` lands in an order of 0..n-1 that `key` picks: a Feistel network of four rounds over the next even power of
 * two, walked until it lands below n. */
static uint32_t shuffled(uint32_t at, uint32_t n, uint64_t key)
{
    int half = 1;
    while ((uint64_t)1 << 2 * half < n)
        half++;
    const uint64_t mask = ((uint64_t)1 << half) - 1;
    uint64_t x = at;
    do {
        uint64_t left = x >> half, right = x & mask;
        for (uint64_t round = 0; round < 4; round++) {
            uint64_t next = left ^ (random_mix(key ^ random_mix(round << 32 ^ right)) & mask);
            left = right;
            right = next;
        }
        x = left << half | right;
    } while (x >= n);
    return (uint32_t)x;
}

struct platform *platform_draw(const struct platform *platform, uint64_t seed, uint32_t at, uint32_t draws,
                               struct err *err)
{
    if (at >= draws) {
        err_set(err, "draw %u of %u", at, draws);
        return NULL;
    }
    struct platform *drawn = platform_copy(platform, err);
    struct platform_axis axis;
    for (size_t i = 0; drawn && platform_axis(platform, i, &axis); i++) {
        uint64_t key = name_of(seed, &axis);
        uint32_t stratum = shuffled(at, draws, key);
        double within = (double)(random_mix(key ^ random_mix(at + ((uint64_t)draws << 32))) >> 11) * 0x1p-53;
        move(drawn, &axis, ((double)stratum + within) / draws);
    }
    return drawn;
}
