#include "trace/base/id_map.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

static struct dense_slot *slot_of(const struct id_map *d, uint64_t id)
{
    size_t i = (size_t)(id * 0x9E3779B97F4A7C15ULL >> (64 - __builtin_ctzll(d->size))); /* all bits of an id count */
    while (d->slots[i].number && d->slots[i].id != id)
        i = (i + 1) & (d->size - 1);
    return &d->slots[i];
}

static int grow(struct id_map *d, struct err *err)
{
    struct id_map bigger = {.size = d->size ? d->size * 2 : 1024, .count = d->count};
    bigger.slots = mem_zalloc(bigger.size, sizeof *bigger.slots, err);
    if (!bigger.slots)
        return -1;
    for (size_t i = 0; i < d->size; i++)
        if (d->slots[i].number)
            *slot_of(&bigger, d->slots[i].id) = d->slots[i];
    free(d->slots);
    *d = bigger;
    return 0;
}

int id_map_number(struct id_map *d, uint64_t id, uint32_t *number, struct err *err)
{
    if (4 * ((size_t)d->count + 1) > 3 * d->size && grow(d, err))
        return -1;
    struct dense_slot *slot = slot_of(d, id);
    if (!slot->number) {
        if (d->count >= UINT32_MAX - 2)
            return err_set(err, "more than %u different ids", UINT32_MAX - 2);
        *slot = (struct dense_slot){id, ++d->count};
    }
    *number = slot->number - 1;
    return 0;
}

void id_map_clear(struct id_map *d)
{
    if (d->size)
        memset(d->slots, 0, d->size * sizeof *d->slots);
    d->count = 0;
}

void id_map_release(struct id_map *d)
{
    free(d->slots);
    *d = (struct id_map){0};
}
