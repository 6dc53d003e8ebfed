/* zip: the members of a zip archive, stored or deflated, with sizes beyond 4 GiB (zip64) where need be.
 *
 * Everything is taken from the directory at the archive's end and held against the file: members must lie inside it,
 * and no deflated one may claim more than deflate can make of its bytes. Source: PKWARE APPNOTE 6.3.3; RFC 1951.
 *
 * Only the directory is read here, and not by libzip (1.7.3 in Debian 12), because a member is then a part of a file
 * like any other: source.h reads it from where it lies with the one function that inflates gzip too, a window at a
 * time, as many members at once as a graph has arrays (indptr, indices, data), each through a descriptor of its own,
 * checks size and sum, and says at which byte it stands. libzip does not tell where a member lies; it would need a
 * second kind of source, whose archive is opened once more for each reader, and bring OpenSSL and libbz2 (of encryption
 * and packings that NumPy does not write) into the program and its bundle. */
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
