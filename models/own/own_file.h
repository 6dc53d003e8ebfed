/* own_file: the file of a loaded policy as bytes: whether it is what `offchip policy build` wrote, whole.
 *
 * Such a file is an ELF shared object of this kind of machine with a seal behind it: OWN_SEAL_MARK, the XXH3 128 of all
 * bytes before the mark as 32 hexadecimal digits, a line end. The system's loader trusts what it maps, so nothing is
 * given to it whose seal does not fit: what is cut short or damaged is an error, never a crash. The seal proves that
 * the file is whole, not who made it. */
#ifndef MODELS_OWN_OWN_FILE_H
#define MODELS_OWN_OWN_FILE_H

#include <stddef.h>

#include "trace/base/err.h"

#define OWN_SEAL_MARK "\nsealed by offchip policy build: "
enum {
    OWN_HASH = 33,                                      /* 32 digits and the end */
    OWN_SEAL_BYTES = sizeof OWN_SEAL_MARK - 1 + 32 + 1, /* mark, digits, line end */
    OWN_FILE_BYTES = 64 << 20                           /* a file is no longer than that */
};

/* The whole file in memory, freed with free(); NULL with *err set, which does not name the file. */
unsigned char *own_file_read(const char *path, size_t *count, struct err *err);

/* The hash of what the seal seals. -1 with *err set, which does not name the file. */
int own_file_check(const unsigned char *bytes, size_t count, char hash[OWN_HASH], struct err *err);

/* The seal of `count` bytes that have none yet. */
void own_file_seal(const unsigned char *bytes, size_t count, char seal[OWN_SEAL_BYTES]);

#endif
