#include "replay/report/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/results/case_table.h"
#include "replay/run/engine.h"
#include "trace/base/mem.h"

enum { HUES = 10, TINTS = 5, FILLS = 7, DASHES = 5, POINTS = 8, PLAIN = 6 };

/* Okabe and Ito's colours, which colour-blind people can tell apart, but for yellow, which white swallows; then three
 * for long lists. */
static const unsigned hues[HUES] = {0x0072B2, 0xE69F00, 0x009E73, 0xD55E00, 0xCC79A7,
                                    0x56B4E9, 0x8A7A00, 0x444444, 0x7B3FA0, 0xA3C14A};
static const unsigned plain[PLAIN] = {0x22414F, 0x86A5B3, 0xC9D8DF, 0x6B543A, 0xC6AC8F, 0x9A9A9A};
/* How far to white, or (negative) to black. */
static const double tints[TINTS] = {0, 0.45, -0.35, 0.65, -0.6};
static const int fills[FILLS] = {0, 4, 1, 5, 2, 6, 7};
static const int dashes[DASHES] = {1, 2, 4, 5, 3};
static const int points[POINTS] = {7, 5, 9, 11, 13, 6, 4, 8};

/* --- where a policy stands --- */

struct place {
    size_t rank;    /* in the list of policies; those with another eviction policy come after all of them */
    size_t half;    /* of these, the rank of the first half */
    size_t variant; /* 0: no parameter is named */
    double number;  /* of the first parameter; NAN: it has none */
};

static unsigned long hash(const char *text)
{
    unsigned long h = 2166136261U;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619U & 0xffffffffU;
    return h;
}

/* The place of the list's policy that `name` begins with, up to ':', '+' or its end; *count: how many there are. */
static bool find(const struct policy_head *const *list, const char *name, size_t *at, size_t *count)
{
    const size_t length = strcspn(name, ":+");
    bool found = false;
    *count = 0;
    for (size_t i = 0; list && list[i]; i++, ++*count)
        if (!found && strlen(list[i]->name) == length && strncmp(list[i]->name, name, length) == 0) {
            found = true;
            *at = i;
        }
    return found;
}

static struct place place_of(const char *engine, const char *name)
{
    const struct engine *e = engine_told(engine);
    struct place p = {.number = NAN};
    size_t count = 0, second = 0, seconds = 0;
    if (!find(e ? e->policies : NULL, name, &p.rank, &count))
        p.rank = count + hash(name) % HUES; /* of another release, or "best fixed" */
    const char *plus = strchr(name, '+'), *equals = strchr(name, '=');
    if (plus && find(e ? e->second : NULL, plus + 1, &second, &seconds) && second) {
        p.half = p.rank;
        p.rank = count + second - 1; /* the first is what stands where none is named */
    }
    char value[64] = "";
    if (equals)
        (void)snprintf(value, sizeof value, "%.*s", (int)strcspn(equals + 1, ",+"), equals + 1);
    if (!case_keys_number(value, &p.number))
        p.number = NAN;
    if (equals)
        p.variant = 1 + (p.number > 0 ? (size_t)fmax(0, round(log2(p.number))) / 2 : hash(value) % TINTS);
    p.variant += p.half;
    return p;
}

int style_order(const char *engine, const char *a, const char *b)
{
    const struct place p = place_of(engine, a), q = place_of(engine, b);
    if (p.rank != q.rank)
        return p.rank < q.rank ? -1 : 1;
    if (p.half != q.half)
        return p.half < q.half ? -1 : 1;
    if (!isnan(p.number) && !isnan(q.number) && p.number != q.number)
        return p.number < q.number ? -1 : 1;
    return strcmp(a, b);
}

/* --- looks --- */

static unsigned tinted(unsigned colour, double tint)
{
    unsigned out = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        const double part = colour >> shift & 255;
        out |= (unsigned)lround(part + (tint > 0 ? (255 - part) * tint : part * tint)) << shift;
    }
    return out;
}

/* What a figure has used so far. */
struct used {
    bool fills[FILLS], points[POINTS], dashes[DASHES];
};

/* The first that is free from `from` on, or that one itself. */
static size_t take(bool *used, size_t n, size_t from)
{
    for (size_t i = 0; i < n; i++)
        if (!used[(from + i) % n]) {
            used[(from + i) % n] = true;
            return (from + i) % n;
        }
    return from % n;
}

static bool has_colour(const struct style *styles, size_t n, unsigned colour)
{
    for (size_t i = 0; i < n; i++)
        if (styles[i].colour == colour)
            return true;
    return false;
}

void style_policies(const char *engine, char *const *names, size_t n, struct style *out)
{
    struct used used = {0};
    for (size_t i = 0; i < n; i++) {
        const struct place p = place_of(engine, names[i]);
        const size_t turn = p.rank / HUES; /* hues begin anew, darker */
        size_t tint = (p.variant + 2 * turn) % TINTS;
        const unsigned hue = hues[p.rank % HUES];
        for (size_t k = 0; k < TINTS && has_colour(out, i, tinted(hue, tints[tint])); k++)
            tint = (tint + 1) % TINTS;
        out[i].colour = tinted(hue, tints[tint]);
        out[i].fill = fills[take(used.fills, FILLS, p.rank + p.variant)];
        out[i].point = points[take(used.points, POINTS, p.rank + p.variant)];
        out[i].dash = dashes[take(used.dashes, DASHES, p.rank + p.variant)];
    }
}

struct style style_plain(size_t i)
{
    static const int own[PLAIN] = {0, 0, 0, 4, 5, 1};
    return (struct style){.colour = plain[i % PLAIN],
                          .fill = i < PLAIN ? own[i] : fills[1 + i % (FILLS - 1)],
                          .dash = dashes[i % DASHES],
                          .point = points[i % POINTS]};
}

struct style style_line(size_t i)
{
    return (struct style){.colour = tinted(hues[i % HUES], tints[i / HUES % TINTS]),
                          .fill = fills[i % FILLS],
                          .dash = dashes[i % DASHES],
                          .point = points[i % POINTS]};
}

/* --- order --- */

struct slot {
    const char *engine;
    char *name;
    size_t at;
};

static int by_policy(const void *a, const void *b)
{
    const struct slot *p = a, *q = b;
    const int order = style_order(p->engine, p->name, q->name);
    return order ? order : (p->at > q->at) - (p->at < q->at);
}

int style_sort(struct case_table *t, struct err *err)
{
    const struct engine *engine = t->set->count ? engine_told(t->set->runs[0].engine) : NULL;
    if (t->series < 2 || !engine || !engine->policies || !engine->policies[0])
        return 0;
    struct slot *slots = mem_zalloc(t->series, sizeof *slots, err);
    size_t *to = slots ? mem_zalloc(t->series, sizeof *to, err) : NULL;
    for (size_t s = 0; to && s < t->series; s++)
        slots[s] = (struct slot){engine->name, t->series_labels[s], s};
    if (to)
        qsort(slots, t->series, sizeof *slots, by_policy);
    for (size_t s = 0; to && s < t->series; s++) {
        to[slots[s].at] = s;
        t->series_labels[s] = slots[s].name;
    }
    for (size_t i = 0; to && i < t->set->count; i++)
        t->series_of[i] = to[t->series_of[i]];
    const bool good = to != NULL;
    free(slots);
    free(to);
    return good ? 0 : -1;
}

/* --- gnuplot --- */

void style_put_lines(FILE *script, const struct style *styles, size_t n, size_t first)
{
    for (size_t i = 0; i < n; i++)
        (void)fprintf(script, "set linetype %zu linecolor rgb '#%06X' linewidth 2.5 dashtype %d pointtype %d\n",
                      first + i, styles[i].colour, styles[i].dash, styles[i].point);
}

void style_put_fill(FILE *script, const struct style *style)
{
    (void)fprintf(script, " linecolor rgb '#%06X' dashtype 1 linewidth 2 fillstyle ", style->colour);
    if (style->fill)
        (void)fprintf(script, "pattern %d border linecolor rgb '#%06X'", style->fill, style->colour);
    else
        (void)fprintf(script, "solid 1 border linecolor rgb '#%06X'", style->colour);
}
