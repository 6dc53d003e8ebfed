#include <stdio.h>
#include <string.h>

#include "models/base/platform_type.h"
#include "trace/base/ini.h"
#include "trace/base/param.h"
#include "trace/base/units.h"

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
    size_t used = strlen(p->from);
    if (load->depth == 0 && used < sizeof p->from && strcmp(p->from, "shipped") != 0)
        (void)snprintf(p->from + used, sizeof p->from - used, ", on base %s", base);
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

int platform_moves(const struct param *row)
{
    static const char *const times[] = {"ns", "ms", "ns/byte", "ms/byte"};
    static const char *const rates[] = {"bytes/s", "Hz", "GT/s"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (strcmp(row->unit, times[i]) == 0)
            return 1;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (strcmp(row->unit, rates[i]) == 0)
            return -1;
    return 0;
}

double platform_times(const struct param *row, double value, double factor)
{
    double moved = platform_moves(row) > 0 ? value * factor : value / factor;
    return moved < row->lo ? row->lo : moved > row->hi ? row->hi : moved;
}

/* One number of the lender's. */
static int take_number(struct platform_part *part, size_t i, const struct platform_part *lender,
                       struct platform *platform, struct err *err)
{
    const struct param *row = &part->section->params[i];
    struct platform_number *n = &part->numbers[i];
    if (lender->numbers[i].state != PLATFORM_STATED)
        return 0;
    *n = lender->numbers[i];
    n->kind = PLATFORM_AS;
    n->borrowed = true;
    n->as = part->borrowed.as;
    n->source = platform_keep(platform, n->source, err);
    if (row->type == PARAM_TEXT) {
        const char **text = (const char **)((char *)part->values + row->offset);
        *text = platform_keep(platform, *text, err);
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

/* LOW..HIGH of a factor. */
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
    char *kept = platform_keep(p, text, err);
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
        return err_set(err, "[%s] is as none; no number can stand in it", part->section->name);
    part->none = NULL;
    load->touched[s] = true;
    return platform_state(load->platform, part, key, text, PLATFORM_STATED, err);
}

/* --- files --- */

static int unknown_section(const char *section, struct err *err)
{
    char known[200] = "";
    size_t used = 0;
    for (size_t s = 0; platform_sections[s] && used < sizeof known; s++)
        used += (size_t)snprintf(known + used, sizeof known - used, " [%s]", platform_sections[s]->name);
    return err_set(err, "[%.60s] is not a known section; expected [platform]%s", section, known);
}

/* Key NULL: the section begins. */
static int on_value(void *ctx, const char *section, const char *key, const char *value, struct err *err)
{
    struct load *load = ctx;
    size_t s = 0;
    if (strcmp(section, "platform") == 0)
        return key ? set_head(load, key, value, err) : 0;
    while (s < load->platform->part_count && strcmp(load->platform->parts[s].section->name, section) != 0)
        s++;
    if (s == load->platform->part_count)
        return unknown_section(section, err);
    return key ? set_number(load, s, key, value, err) : 0;
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

int platform_read(struct platform *platform, const char *name_or_file, int depth, struct err *err)
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
