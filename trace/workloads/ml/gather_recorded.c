/* Rows that a recorded kernel looked up: the reads of one array, in the order of the recording.
 *
 * A read of a row's first sector is a lookup of the row, whoever reads the rest. A lane that copies a row by itself
 * reads that sector several times: a warp's read of first sectors alone, and the same ones as by its read before, goes
 * on with the same lookups.
 * Worked example, rows of 256 B from address 0 on: warp 0 reads bytes 0 to 127, warp 1 bytes 128 to 255: one lookup of
 * row 0. Lanes 0 and 1 read bytes 256 to 259 and 0 to 3, then 260 to 263 and 4 to 7: one of row 1, one of row 0.
 * Differs: what a recording keeps are sectors; a warp that looks up one row twice in a row, each time by its first
 * sector alone, counts once. */
#include <stdlib.h>
#include <string.h>

#include "trace/base/id_map.h"
#include "trace/base/mem.h"
#include "trace/program/access.h"
#include "trace/store/dbfile.h"
#include "trace/workloads/ml/gather.h"

struct lookups {
    uint64_t first, bytes, row_bytes; /* of the array, and of a row */
    uint64_t *rows;
    size_t n, cap;
    struct id_map warps; /* of the launch */
    uint64_t *read;      /* by warp, a hash of its last read's sectors */
    size_t warps_cap;
    /* The instruction that is being read: */
    int64_t access;
    uint64_t warp, hash;
    size_t before;    /* rows before it */
    unsigned sectors; /* of the array */
};

/* An instruction is read to its end. */
static int end_read(struct lookups *l, struct err *err)
{
    const uint32_t known = l->warps.count;
    uint32_t warp;
    if (!l->sectors)
        return 0;
    if (id_map_number(&l->warps, l->warp, &warp, err) ||
        mem_grow((void **)&l->read, &l->warps_cap, l->warps.count, sizeof *l->read, err))
        return -1;
    const bool alone = l->n - l->before == l->sectors && l->row_bytes > ACCESS_SECTOR;
    if (alone && warp < known && l->read[warp] == l->hash)
        l->n = l->before;
    l->read[warp] = l->hash;
    l->sectors = 0;
    return 0;
}

/* A line of an instruction, some of its sectors read. */
static int take_line(struct lookups *l, const struct record *r, int64_t access, struct err *err)
{
    if (access != l->access && end_read(l, err))
        return -1;
    l->access = access;
    for (uint64_t s = 0; s < ACCESS_LINE / ACCESS_SECTOR; s++) {
        const uint64_t at = r->addr + s * ACCESS_SECTOR - l->first;
        if (!(r->flags >> s & 1) || at >= l->bytes)
            continue;
        if (!l->sectors++) {
            l->before = l->n;
            l->warp = r->id;
            l->hash = 0;
        }
        l->hash = (l->hash ^ at) * 0x9E3779B97F4A7C15U;
        if (at % l->row_bytes == 0 && MEM_ADD(l->rows, l->n, l->cap, err, at / l->row_bytes))
            return -1;
    }
    return 0;
}

static int read_lookups(struct lookups *l, struct store *store, int stream, struct err *err)
{
    const int number = store_extra(store_stream(store, stream), "access");
    struct store_walk w = {0};
    while (store_walk_next(&w, store, stream, err))
        if (w.r->kind == RECORD_ACCESS && w.r->flags >> 4 == RECORD_READ)
            w.failed = take_line(l, w.r, number < 0 ? l->access + 1 : store_walk_extra(&w, number), err);
        else if (w.r->kind == RECORD_KERNEL) {
            w.failed = end_read(l, err);
            id_map_clear(&l->warps);
        }
    return store_walk_end(&w) ? -1 : end_read(l, err);
}

/* --- which array --- */

struct arrays {
    uint64_t first, bytes; /* the last of them */
    size_t host, device;
};

static int take_array(void *ctx, const struct store_value *v, size_t n)
{
    struct arrays *a = ctx;
    const bool device = n > 3 && v[3].s && strcmp(v[3].s, "device") == 0;
    *(device ? &a->device : &a->host) += 1;
    if (!device || !a->host) {
        a->first = (uint64_t)v[1].i;
        a->bytes = (uint64_t)v[2].i;
    }
    return 0;
}

/* The one that `range` says, FIRST-LAST, or the only one in host memory, or the only one. */
static int choose_array(struct lookups *l, struct store *store, const char *range, struct err *err)
{
    struct arrays a = {0};
    char *end = NULL;
    if (range) {
        l->first = strtoull(range, &end, 0);
        const char *second = *end == '-' ? end + 1 : range;
        const uint64_t last = strtoull(second, &end, 0);
        if (second == range || end == second || *end || last < l->first)
            return err_set(err, "'%.60s': expected the bytes of an array, FIRST-LAST", range);
        l->bytes = last - l->first + 1;
        return 0;
    }
    if (store_rows(store, "allocations", take_array, &a, err))
        return -1;
    if (a.host != 1 && (a.host || a.device != 1))
        return err_set(
            err,
            "%s has %zu arrays; append @FIRST-LAST, the bytes of the table (offchip sql FILE \"SELECT * FROM "
            "allocations\")",
            store_path(store), a.host ? a.host : a.device);
    l->first = a.first;
    l->bytes = a.bytes;
    return 0;
}

static int read_trace(struct lookups *l, const char *path, const char *range, struct err *err)
{
    struct store *store = store_open(path, err);
    const int stream = store ? store_stream_find(store, "accesses") : -1;
    int rc = stream >= 0 ? choose_array(l, store, range, err) : -1;
    if (store && stream < 0)
        (void)err_set(err, "%s holds no accesses; record --accesses makes such a trace", path);
    if (!rc && (l->row_bytes % ACCESS_SECTOR || l->first % ACCESS_SECTOR))
        rc = err_set(err, "%s: rows of %llu bytes from %#llx on; a recording tells rows apart by sectors of %d", path,
                     (unsigned long long)l->row_bytes, (unsigned long long)l->first, ACCESS_SECTOR);
    if (!rc)
        rc = read_lookups(l, store, stream, err);
    if (!rc && !l->n)
        rc = err_set(err, "%s: nothing reads the first bytes of a row of %llu from %#llx on, %llu bytes", path,
                     (unsigned long long)l->row_bytes, (unsigned long long)l->first, (unsigned long long)l->bytes);
    store_close(store);
    return rc;
}

int gather_recorded_rows(const char *path, int64_t row_bytes, struct gather_lookups *out, struct err *err)
{
    struct lookups l = {.row_bytes = (uint64_t)row_bytes, .access = -1};
    const char *at = dbfile_is_database(path) ? NULL : strrchr(path, '@');
    char *file = mem_strndup(path, at ? (size_t)(at - path) : strlen(path), err);
    int rc = !file ? -1 : dbfile_is_database(file) ? 1 : 0;
    if (rc > 0) {
        rc = read_trace(&l, file, at ? at + 1 : NULL, err) ? -1 : 1;
        const uint64_t has = l.bytes / l.row_bytes + (l.bytes % l.row_bytes != 0);
        *out = (struct gather_lookups){l.rows, l.n, out->table_rows ? out->table_rows : has};
    }
    id_map_release(&l.warps);
    free(l.read);
    free(file);
    return rc;
}
