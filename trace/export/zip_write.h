/* zip_write: an archive written from front to back, its members deflated as they come: to a pipe too, with little
 * memory.
 *
 *     zip_write_init(&zip, to, err); for each member: zip_write_member(), zip_write_data() .., zip_write_end();
 *     zip_write_finish(); zip_write_release() in any case
 *
 * Sizes and sum stand behind each member (bit 3 of its flags) and in the directory; those beyond 4 GiB in the fields of
 * zip64. Errors of `to` are found by its owner (ferror). Source: PKWARE APPNOTE 6.3.3, sections 4.3 and 4.5.3. */
#ifndef TRACE_EXPORT_ZIP_WRITE_H
#define TRACE_EXPORT_ZIP_WRITE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/base/err.h"

enum { ZIP_MEMBERS = 32 };

struct zip_write {
    FILE *to;
    uint64_t at;    /* bytes written */
    uint64_t small; /* what is larger stands in zip64's fields: 0xfffffffe; less for tests */
    void *deflate;  /* z_stream */
    struct zip_write_member {
        char name[64];
        uint64_t at, bytes, packed_bytes;
        uint32_t crc;
        int wide; /* of zip64 */
    } members[ZIP_MEMBERS];
    size_t count;
};

int zip_write_init(struct zip_write *zip, FILE *to, struct err *err);
/* Of at most 63 bytes of ASCII; it will have so many bytes. */
int zip_write_member(struct zip_write *zip, const char *name, uint64_t bytes, struct err *err);
void zip_write_data(struct zip_write *zip, const void *data, size_t n);
/* Asserts that there were as many bytes as said. */
void zip_write_end(struct zip_write *zip);
void zip_write_finish(struct zip_write *zip);
void zip_write_release(struct zip_write *zip); /* a zeroed one is allowed */

#endif
