/* zip: the members of a zip archive, stored or deflated, with sizes beyond 4 GiB (zip64) where need be.
 *
 * Everything is taken from the directory at the archive's end and held against the file: members must lie inside it,
 * and no deflated one may claim more than deflate can make of its bytes. Source: PKWARE APPNOTE 6.3.3; RFC 1951. */
#ifndef TRACE_IMPORT_ZIP_H
#define TRACE_IMPORT_ZIP_H

#include "trace/import/source.h"

struct zip_member {
    char name[128]; /* longer ones are cut */
    struct source_part part;
};

/* The members of archive `path` in the directory's order, freed with free(). At most 65,535. */
int zip_members(const char *path, struct zip_member **members, size_t *n, struct err *err);

#endif
