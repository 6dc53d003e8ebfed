#include "trace/derived/tlp_tally.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* The counts of one direction: a row of sizes per type, made when first needed. */
struct direction {
    char name[48];
    uint64_t *sizes[TLP_TYPES];
};

struct defect {
    enum tlp_type type;
    const char *what;
    uint64_t count;
};

struct tlp_tally {
    struct direction *directions;
    size_t direction_count, direction_cap;
    struct defect defects[TLP_TALLY_DEFECTS];
    size_t defect_count;
};

struct tlp_tally *tlp_tally_new(struct err *err)
{
    return mem_zalloc(1, sizeof(struct tlp_tally), err);
}

void tlp_tally_free(struct tlp_tally *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->direction_count; i++)
        for (int k = 0; k < TLP_TYPES; k++)
            free(t->directions[i].sizes[k]);
    free(t->directions);
    free(t);
}

uint16_t tlp_tally_direction(struct tlp_tally *t, const char *name)
{
    for (size_t i = 0; i < t->direction_count; i++)
        if (strcmp(t->directions[i].name, name) == 0)
            return (uint16_t)i;
    if (t->direction_count == TLP_TALLY_DIRECTIONS ||
        mem_grow((void **)&t->directions, &t->direction_cap, t->direction_count + 1, sizeof *t->directions, NULL))
        return (uint16_t)(t->direction_count ? t->direction_count - 1 : 0);
    struct direction *d = &t->directions[t->direction_count];
    memset(d, 0, sizeof *d);
    strncpy(d->name, name, sizeof d->name - 1);
    return (uint16_t)t->direction_count++;
}

int tlp_tally_add(struct tlp_tally *t, enum tlp_type type, uint16_t direction, uint32_t bytes, struct err *err)
{
    if (direction >= t->direction_count)
        return err_set(err, "no packet direction %u", direction);
    uint64_t **sizes = &t->directions[direction].sizes[type];
    if (!*sizes && !(*sizes = mem_zalloc(TLP_TALLY_SIZES, sizeof **sizes, err)))
        return -1;
    (*sizes)[bytes < TLP_TALLY_SIZES ? bytes : TLP_TALLY_SIZES - 1]++;
    return 0;
}

void tlp_tally_defect(struct tlp_tally *t, enum tlp_type type, const char *what)
{
    size_t i = 0;
    while (i < t->defect_count && (t->defects[i].type != type || t->defects[i].what != what))
        i++;
    if (i == TLP_TALLY_DEFECTS)
        return; /* more than there are phrases: cannot be */
    if (i == t->defect_count)
        t->defects[t->defect_count++] = (struct defect){type, what, 0};
    t->defects[i].count++;
}

int tlp_tally_walk(const struct tlp_tally *t,
                   int (*fn)(void *ctx, enum tlp_type type, const char *direction, uint32_t bytes, uint64_t count),
                   void *ctx)
{
    for (int type = 0; type < TLP_TYPES; type++)
        for (size_t d = 0; d < t->direction_count; d++) {
            const uint64_t *sizes = t->directions[d].sizes[type];
            for (uint32_t bytes = 0; sizes && bytes < TLP_TALLY_SIZES; bytes++) {
                int rc = sizes[bytes] ? fn(ctx, (enum tlp_type)type, t->directions[d].name, bytes, sizes[bytes]) : 0;
                if (rc)
                    return rc;
            }
        }
    return 0;
}

struct writing {
    struct store *store;
    struct err *err;
};

static int write_row(void *ctx, enum tlp_type type, const char *direction, uint32_t bytes, uint64_t count)
{
    const struct writing *w = ctx;
    return STORE_ROW(w->store, "tlp_histogram", w->err, STORE_V_TEXT(tlp_name(type)), STORE_V_TEXT(direction),
                     STORE_V_INT(bytes), STORE_V_INT(count));
}

int tlp_tally_store(const struct tlp_tally *t, struct store *store, struct err *err)
{
    struct writing w = {store, err};
    if (tlp_tally_walk(t, write_row, &w))
        return -1;
    for (size_t i = 0; i < t->defect_count; i++) {
        const struct defect *d = &t->defects[i];
        if (STORE_ROW(store, "tlp_defects", err, STORE_V_TEXT(tlp_name(d->type)), STORE_V_TEXT(d->what),
                      STORE_V_INT(d->count)))
            return -1;
    }
    return 0;
}
