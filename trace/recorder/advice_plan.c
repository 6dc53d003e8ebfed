#include "trace/recorder/advice_plan.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/ini.h"
#include "trace/base/mem.h"
#include "trace/event/record.h"
#include "trace/recorder/wire/record_pipe.h"

/* What a launch is given, in the order of its line. */
enum { ORDER_KEYS = 3 };
static const char *const order_keys[ORDER_KEYS] = {"prefetch", "advise", "back"};

struct reading {
    char *text;
    size_t n;
    int allocations, kernels;
    bool versioned, calls;
    /* The section under way. */
    char section[320];
    long long order, bytes, launch;
    char advice[64], prefetch[8], orders[ORDER_KEYS][PLAN_SITE_BYTES], site[PLAN_SITE_BYTES];
};

static int add_line(struct reading *r, const char *line, struct err *err)
{
    size_t n = strlen(line);
    if (r->n + n >= PLAN_TEXT_BYTES)
        return err_set(err, "the plan is too long: %d KiB hold what can be given to a program", PLAN_TEXT_BYTES >> 10);
    memcpy(r->text + r->n, line, n + 1);
    r->n += n;
    return 0;
}

static bool is(const char *section, const char *what)
{
    size_t n = strlen(what);
    return strncmp(section, what, n) == 0 && section[n] == ' ' && section[n + 1];
}

/* The section is over: its line. */
static int end_section(struct reading *r, struct err *err)
{
    char line[3 * PLAN_SITE_BYTES + 400];
    const char *orders[ORDER_KEYS];
    bool any = false;
    if (is(r->section, "allocation")) {
        if (r->bytes <= 0)
            return err_set(err, "[%s] has no bytes", r->section);
        r->calls |= r->advice[0] || r->prefetch[0]; /* without, it is named to be checked */
        (void)snprintf(line, sizeof line, "A %lld %lld %s %s %s\n", r->order, r->bytes, r->advice[0] ? r->advice : "-",
                       r->prefetch[0] ? r->prefetch : "-", r->site[0] ? r->site : "-");
        return add_line(r, line, err);
    }
    if (!is(r->section, "kernel"))
        return 0;
    for (int i = 0; i < ORDER_KEYS; i++) {
        orders[i] = r->orders[i][0] ? r->orders[i] : "-";
        any |= r->orders[i][0] != 0;
    }
    if (!any)
        return err_set(err, "[%s] has no prefetch, advise or back", r->section);
    r->calls = true;
    (void)snprintf(line, sizeof line, "K %lld %s %s %s %s\n", r->launch, r->section + 7, orders[0], orders[1],
                   orders[2]);
    return add_line(r, line, err);
}

static int number(const char *text, long long most, long long *value, struct err *err)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno || end == text || *end || *value < 0 || *value > most
               ? err_set(err, "'%s'; expected a number from 0 to %lld", text, most)
               : 0;
}

static int begin_section(struct reading *r, const char *section, struct err *err)
{
    if (end_section(r, err))
        return -1;
    r->bytes = 0;
    r->launch = -1;
    r->advice[0] = r->prefetch[0] = r->site[0] = 0;
    memset(r->orders, 0, sizeof r->orders);
    if (strlen(section) >= sizeof r->section)
        return err_set(err, "the section's name is too long");
    (void)snprintf(r->section, sizeof r->section, "%s", section);
    if (strcmp(section, "plan") == 0)
        return 0;
    if (is(section, "allocation"))
        return ++r->allocations > PLAN_ALLOCATIONS
                   ? err_set(err, "more than %d allocations", PLAN_ALLOCATIONS)
                   : number(section + strlen("allocation "), PLAN_ALLOCATIONS * 1024LL, &r->order, err);
    if (!is(section, "kernel"))
        return err_set(err, "[%s]; expected [plan], [allocation N], [kernel NAME] or [kernel NAME LAUNCH]", section);
    if (++r->kernels > PLAN_KERNELS)
        return err_set(err, "more than %d kernels", PLAN_KERNELS);
    char *launch = strchr(r->section + strlen("kernel "), ' ');
    if (!launch)
        return 0;
    *launch = 0;
    return number(launch + 1, INT32_MAX, &r->launch, err);
}

/* --- values --- */

/* The next of a list, without the white space around it; false at the end. */
static bool next_item(const char **list, char item[48])
{
    const char *p = *list + strspn(*list, " \t,");
    size_t n = strcspn(p, ","), kept = n;
    while (kept > 0 && (p[kept - 1] == ' ' || p[kept - 1] == '\t'))
        kept--;
    (void)snprintf(item, 48, "%.*s", (int)kept, p);
    *list = p + n;
    return kept > 0;
}

static int take_advice(struct reading *r, const char *value, struct err *err)
{
    static const struct {
        const char *name;
        int number;
        char where;
    } all[] = {{"read-mostly", RECORD_ADVISE_READ_MOSTLY, 'g'},
               {"preferred-cpu", RECORD_ADVISE_PREFERRED_LOCATION, 'c'},
               {"preferred-gpu", RECORD_ADVISE_PREFERRED_LOCATION, 'g'},
               {"accessed-by-cpu", RECORD_ADVISE_ACCESSED_BY, 'c'},
               {"accessed-by-gpu", RECORD_ADVISE_ACCESSED_BY, 'g'}};
    char item[48];
    int n = 0;
    while (next_item(&value, item)) {
        size_t i = 0;
        while (i < sizeof all / sizeof *all && strcmp(all[i].name, item) != 0)
            i++;
        if (i == sizeof all / sizeof *all)
            return err_set(err,
                           "'%s'; expected read-mostly, preferred-cpu, preferred-gpu, accessed-by-cpu or "
                           "accessed-by-gpu",
                           item);
        if (++n > PLAN_ADVICE)
            return err_set(err, "more than %d pieces of advice", PLAN_ADVICE);
        (void)mem_add_text(r->advice, sizeof r->advice, "%s%d:%c", *r->advice ? "," : "", all[i].number, all[i].where);
    }
    return n ? 0 : err_set(err, "no advice");
}

static int take_orders(char orders[PLAN_SITE_BYTES], const char *value, struct err *err)
{
    char item[48];
    int n = 0;
    long long order;
    while (next_item(&value, item)) {
        if (number(item, PLAN_ALLOCATIONS * 1024LL, &order, err))
            return -1;
        if (++n > PLAN_ORDERS)
            return err_set(err, "more than %d allocations before one launch", PLAN_ORDERS);
        (void)mem_add_text(orders, PLAN_SITE_BYTES, "%s%lld", *orders ? "," : "", order);
    }
    return n ? 0 : err_set(err, "no allocation");
}

/* MODULE+0xOFFSET, with or without the symbol that a recording gives beside it; 0: it is none. */
static size_t address_length(const char *item, size_t n)
{
    const char *colon = memchr(item, ':', n);
    size_t length = colon ? (size_t)(colon - item) : n, plus = length;
    while (plus > 0 && item[plus - 1] != '+')
        plus--;
    const char *offset = item + plus, *end = item + length;
    bool good = plus > 1 && end - offset > 2 && offset[0] == '0' && offset[1] == 'x';
    for (const char *p = offset + 2; good && p < end; p++)
        good = isxdigit((unsigned char)*p) && !isupper((unsigned char)*p);
    return good ? length : 0;
}

/* Addresses joined by commas, or by spaces as a recording has them. */
static int take_site(struct reading *r, const char *value, struct err *err)
{
    size_t used = 0;
    for (const char *p = value + strspn(value, " \t,"); *p; p += strspn(p, " \t,")) {
        size_t n = strcspn(p, " \t,"), length = address_length(p, n);
        if (length == 0)
            return err_set(err, "'%.*s'; expected MODULE+0xOFFSET, as a recording with --call-sites has it", (int)n, p);
        if (used + length + 2 > sizeof r->site)
            return err_set(err, "the call site is too long: %d bytes hold it", PLAN_SITE_BYTES);
        used += (size_t)snprintf(r->site + used, sizeof r->site - used, "%s%.*s", used ? "," : "", (int)length, p);
        p += n;
    }
    return used ? 0 : err_set(err, "no call site");
}

static int take_prefetch(struct reading *r, const char *value, struct err *err)
{
    if (strcmp(value, "gpu") != 0 && strcmp(value, "cpu") != 0)
        return err_set(err, "'%s'; expected gpu or cpu", value);
    (void)snprintf(r->prefetch, sizeof r->prefetch, "%c", value[0]);
    return 0;
}

static int take_key(struct reading *r, const char *key, const char *value, struct err *err)
{
    if (strcmp(r->section, "plan") == 0) {
        if (strcmp(key, "version") == 0 && strcmp(value, "1") != 0)
            return err_set(err, "version %s; this program knows version 1", value);
        r->versioned |= strcmp(key, "version") == 0;
        return 0;
    }
    bool allocation = is(r->section, "allocation");
    if (allocation && strcmp(key, "bytes") == 0)
        return number(value, INT64_MAX, &r->bytes, err);
    if (allocation && strcmp(key, "site") == 0)
        return take_site(r, value, err);
    if (allocation && strcmp(key, "advise") == 0)
        return take_advice(r, value, err);
    if (allocation && strcmp(key, "prefetch") == 0)
        return take_prefetch(r, value, err);
    if (!allocation && strcmp(key, "launch") == 0)
        return number(value, INT32_MAX, &r->launch, err);
    for (int i = 0; !allocation && i < ORDER_KEYS; i++)
        if (strcmp(key, order_keys[i]) == 0)
            return take_orders(r->orders[i], value, err);
    return err_set(err, "there is no key '%s' in [%s]", key, r->section);
}

static int take(void *ctx, const char *section, const char *key, const char *value, struct err *err)
{
    return key ? take_key(ctx, key, value, err) : begin_section(ctx, section, err);
}

char *advice_plan_read(const char *path, struct err *err)
{
    struct reading r = {.text = mem_zalloc(PLAN_TEXT_BYTES, 1, err)};
    const struct ini_reader reader = {take, &r};
    if (!r.text)
        return NULL;
    int rc = ini_read_file(path, &reader, err);
    if (rc == 0 && end_section(&r, err))
        rc = err_at(err, "%s", path);
    if (rc == 0 && !r.versioned)
        rc = err_set(err, "%s: [plan] with version = 1 is missing", path);
    if (rc == 0 && !r.calls)
        rc = err_set(err, "%s gives nothing to do", path);
    if (rc == 0)
        return r.text;
    free(r.text);
    return NULL;
}
