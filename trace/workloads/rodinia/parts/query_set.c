#include "trace/workloads/rodinia/parts/query_set.h"

#include <stdbool.h>

#include "trace/base/mem.h"
#include "trace/base/random.h"

int query_set_draw(struct query_set *set, double errors, uint64_t seed, struct err *err)
{
    struct random r = {seed};
    uint8_t *letter = mem_zalloc(set->queries, set->length, err);
    set->letters = letter;
    if (!letter)
        return -1;
    for (uint32_t q = 0; q < set->queries; q++) {
        const uint8_t *from = set->tree->text + random_below(&r, set->tree->bases - set->length + 1);
        for (uint32_t i = 0; i < set->length; i++) {
            bool wrong = random_chance(&r, errors);
            *letter++ = wrong ? (uint8_t)((from[i] + 1 + random_below(&r, 3)) % GENOME_BASES) : from[i];
        }
    }
    return 0;
}
