/* hash: uthash, as all of this project takes it. Without memory it would end the program; so a HASH_ADD that fails
 * leaves the item outside of the table, which hash_has() tells, and the item is still the caller's. */
#pragma once

#define HASH_NONFATAL_OOM                1
#define HASH_FUNCTION(key, bytes, value) ((value) = hash_value(key, (unsigned)(bytes)))
#include <uthash.h>

/* uthash's own hash as a function: as a macro it is 60 statements wherever a table is looked at. */
static inline unsigned hash_value(const void *key, unsigned bytes)
{
    unsigned value;
    HASH_JEN(key, bytes, value);
    return value;
}

/* After HASH_ADD..(.., item): whether it is in the table. */
#define hash_has(item) ((item)->hh.tbl != NULL)

/* Empty a table: of each item, called `item` here, what it holds is released, then it. */
#define HASH_FREE(head, item, release)                                                                                 \
    do {                                                                                                               \
        __typeof__(head) item = (head), behind_##item;                                                                 \
        HASH_CLEAR(hh, head);                                                                                          \
        for (; item; item = behind_##item) {                                                                           \
            behind_##item = item->hh.next;                                                                             \
            release;                                                                                                   \
            free(item);                                                                                                \
        }                                                                                                              \
    } while (0)
