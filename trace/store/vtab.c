#include "trace/store/sql.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/store/chunk.h"
#include "trace/store/directory.h"

static const char declaration[] =
    "CREATE TABLE records(stream TEXT, record INTEGER, time INTEGER, duration INTEGER, kind TEXT, addr INTEGER,"
    " bytes INTEGER, flags INTEGER, id INTEGER, group_id INTEGER, extra_1 INTEGER, extra_2 INTEGER, extra_3 INTEGER,"
    " extra_4 INTEGER)";

enum vtab_column { STREAM, RECORD, TIME, DURATION, KIND, ADDR, BYTES, FLAGS, ID, GROUP_ID, EXTRA_1 };

struct vtab {
    sqlite3_vtab base;
    sqlite3 *db;
};

/* What conditions leave over; never narrower than they are, for SQLite checks them again. */
struct wanted {
    int stream_lo, stream_hi;
    int64_t record_lo, record_hi, time_lo, time_hi; /* inclusive */
    uint64_t kinds;
};

struct vtab_cursor {
    sqlite3_vtab_cursor base;
    struct directory directory;
    bool read; /* the directory */
    struct wanted want;
    int stream; /* being read */
    size_t next_chunk;
    bool open, at_end; /* a reader for the stream is set up; nothing is left */
    struct chunk_reader reader;
    sqlite3_stmt *fetch;
    struct directory_bytes bytes;
    const struct record *records; /* the batch */
    const int64_t *extra;
    size_t count, at;
    int64_t first; /* number of the batch's first record */
};

static int fail(sqlite3_vtab *vtab, const struct err *err)
{
    sqlite3_free(vtab->zErrMsg);
    vtab->zErrMsg = sqlite3_mprintf("records: %s", err->msg);
    return SQLITE_ERROR;
}

static int vtab_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
    (void)aux, (void)argc, (void)argv, (void)message;
    int rc = sqlite3_declare_vtab(db, declaration);
    if (rc)
        return rc;
    (void)sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    struct vtab *vtab = sqlite3_malloc(sizeof *vtab);
    if (!vtab)
        return SQLITE_NOMEM;
    *vtab = (struct vtab){.db = db};
    *out = &vtab->base;
    return SQLITE_OK;
}

static int vtab_disconnect(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab);
    return SQLITE_OK;
}

/* --- which conditions help --- */

/* How a condition bounds what xFilter reads, '=', '<' or '>'; 0: it does not. */
static char useful(int column, unsigned char op)
{
    char how = op == SQLITE_INDEX_CONSTRAINT_EQ                                       ? '='
               : op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE ? '>'
               : op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE ? '<'
                                                                                      : 0;
    bool text = column == STREAM || column == KIND;
    return column == TIME || column == RECORD || (text && how == '=') ? how : 0;
}

static int vtab_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    (void)vtab;
    char *plan = sqlite3_malloc(2 * info->nConstraint + 1); /* for each condition its column's letter, and how */
    if (!plan)
        return SQLITE_NOMEM;
    int used = 0;
    double rows = 1e7;
    for (int i = 0; i < info->nConstraint; i++) {
        int column = info->aConstraint[i].iColumn;
        char how = info->aConstraint[i].usable ? useful(column, info->aConstraint[i].op) : 0;
        bool text = column == STREAM || column == KIND;
        if (!how || (text && strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0))
            continue;
        plan[used++] = (char)('a' + column);
        plan[used++] = how;
        info->aConstraintUsage[i].argvIndex = used / 2;
        rows *= how != '=' || text ? 0.3 : column == RECORD ? 1e-6 : 1e-3;
    }
    plan[used] = 0;
    info->idxStr = plan;
    info->needToFreeIdxStr = 1;
    info->estimatedCost = rows;
    info->estimatedRows = (sqlite3_int64)(rows < 1 ? 1 : rows);
    return SQLITE_OK;
}

/* Bound lo and hi by the integers around `value`; one that we do not understand says nothing. */
static void narrow(int64_t *lo, int64_t *hi, char how, sqlite3_value *value)
{
    const bool whole = sqlite3_value_type(value) == SQLITE_INTEGER;
    const double v = sqlite3_value_double(value);
    if (!whole && (sqlite3_value_type(value) != SQLITE_FLOAT || !(fabs(v) < 0x1p62)))
        return;
    const int64_t below = whole ? sqlite3_value_int64(value) : (int64_t)floor(v);
    const int64_t above = whole ? below : (int64_t)ceil(v);
    if (how != '<' && below > *lo)
        *lo = below;
    if (how != '>' && above < *hi)
        *hi = above;
}

static void narrow_by(struct vtab_cursor *cursor, int column, char how, sqlite3_value *value)
{
    struct wanted *want = &cursor->want;
    const char *text = sqlite3_value_type(value) == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : NULL;
    if (column == STREAM && text) {
        int stream = directory_find(&cursor->directory, text);
        want->stream_lo = stream < 0 || stream > want->stream_lo ? (stream < 0 ? 1 : stream) : want->stream_lo;
        want->stream_hi = stream < want->stream_hi ? stream : want->stream_hi;
    }
    if (column == KIND && text)
        want->kinds &= UINT64_C(1) << record_kind_find(text); /* bit 0, RECORD_NONE, is in no chunk */
    if (column == TIME)
        narrow(&want->time_lo, &want->time_hi, how, value);
    if (column == RECORD)
        narrow(&want->record_lo, &want->record_hi, how, value);
}

/* --- reading --- */

static int vtab_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
    (void)vtab;
    struct vtab_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    *out = &cursor->base;
    return SQLITE_OK;
}

static void close_stream(struct vtab_cursor *cursor)
{
    if (cursor->open)
        chunk_reader_release(&cursor->reader);
    cursor->open = false;
}

static int vtab_close(sqlite3_vtab_cursor *base)
{
    struct vtab_cursor *cursor = (struct vtab_cursor *)base;
    close_stream(cursor);
    sqlite3_finalize(cursor->fetch);
    directory_release(&cursor->directory);
    free(cursor->bytes.data);
    free(cursor);
    return SQLITE_OK;
}

static bool chunk_may_match(const struct wanted *want, const struct directory_chunk *c)
{
    return c->time_max >= want->time_lo && c->time_min <= want->time_hi && (c->kinds & want->kinds) &&
           (int64_t)c->first_record <= want->record_hi && (int64_t)(c->first_record + c->records) > want->record_lo;
}

/* Start on the next chunk that may match; at_end if there is none. */
static int next_chunk(struct vtab_cursor *cursor, struct err *err)
{
    sqlite3 *db = ((struct vtab *)cursor->base.pVtab)->db;
    for (; cursor->stream <= cursor->want.stream_hi; cursor->stream++, cursor->next_chunk = 0, close_stream(cursor)) {
        const struct directory_stream *stream = &cursor->directory.streams[cursor->stream];
        while (cursor->next_chunk < stream->count) {
            const struct directory_chunk *chunk = &stream->chunks[cursor->next_chunk++];
            if (!chunk_may_match(&cursor->want, chunk))
                continue;
            if (!cursor->open && chunk_reader_init(&cursor->reader, stream->extras, err))
                return -1;
            cursor->open = true;
            cursor->first = (int64_t)chunk->first_record;
            cursor->count = 0;
            if (directory_fetch(db, &cursor->fetch, chunk->chunk, &cursor->bytes, err) ||
                chunk_reader_start(&cursor->reader, cursor->bytes.data, cursor->bytes.bytes, chunk->records, err))
                return err_at(err, "stream '%s', chunk %lld", stream->info.name, (long long)chunk->chunk);
            return 0;
        }
    }
    cursor->at_end = true;
    return 0;
}

static bool row_may_match(const struct vtab_cursor *cursor)
{
    const struct wanted *want = &cursor->want;
    const struct record *r = &cursor->records[cursor->at];
    int64_t number = cursor->first + (int64_t)cursor->at;
    return r->time >= want->time_lo && r->time <= want->time_hi && (want->kinds >> r->kind & 1) &&
           number >= want->record_lo && number <= want->record_hi;
}

/* Move to the first row at or after the present place that may match. */
static int settle(struct vtab_cursor *cursor)
{
    struct err err = {""};
    while (!cursor->at_end) {
        for (; cursor->at < cursor->count; cursor->at++)
            if (row_may_match(cursor))
                return SQLITE_OK;
        cursor->first += (int64_t)cursor->count;
        cursor->at = cursor->count = 0;
        int got = cursor->open
                      ? chunk_reader_next(&cursor->reader, &cursor->records, &cursor->extra, &cursor->count, &err)
                      : 0;
        if (got < 0 || (got == 0 && next_chunk(cursor, &err)))
            return fail(cursor->base.pVtab, &err);
    }
    return SQLITE_OK;
}

static int vtab_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc, sqlite3_value **argv)
{
    (void)number;
    struct vtab_cursor *cursor = (struct vtab_cursor *)base;
    struct err err = {""};
    close_stream(cursor);
    if (!cursor->read && directory_read(&cursor->directory, ((struct vtab *)base->pVtab)->db, &err)) {
        directory_release(&cursor->directory);
        (void)err_at(&err, "the database is not a sound offchip trace");
        return fail(base->pVtab, &err);
    }
    cursor->read = true;
    cursor->want =
        (struct wanted){0, (int)cursor->directory.count - 1, INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX, UINT64_MAX};
    for (int i = 0; i < argc; i++)
        narrow_by(cursor, plan[(size_t)2 * i] - 'a', plan[2 * i + 1], argv[i]);
    cursor->stream = cursor->want.stream_lo;
    cursor->next_chunk = cursor->count = cursor->at = 0;
    cursor->at_end = false;
    return settle(cursor);
}

static int vtab_next(sqlite3_vtab_cursor *base)
{
    struct vtab_cursor *cursor = (struct vtab_cursor *)base;
    cursor->at++;
    return settle(cursor);
}

static int vtab_eof(sqlite3_vtab_cursor *base)
{
    return ((struct vtab_cursor *)base)->at_end;
}

static int vtab_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct vtab_cursor *cursor = (const struct vtab_cursor *)base;
    const struct directory_stream *stream = &cursor->directory.streams[cursor->stream];
    const struct record *r = &cursor->records[cursor->at];
    const int64_t numbers[] = {
        [RECORD] = cursor->first + (int64_t)cursor->at,
        [TIME] = r->time,
        [DURATION] = r->duration,
        [ADDR] = (int64_t)r->addr,
        [BYTES] = (int64_t)r->bytes,
        [FLAGS] = r->flags,
        [ID] = (int64_t)r->id,
        [GROUP_ID] = r->group,
    };
    if (column == STREAM)
        sqlite3_result_text(context, stream->info.name, -1, SQLITE_TRANSIENT);
    else if (column == KIND)
        sqlite3_result_text(context, record_kinds[r->kind].name, -1, SQLITE_STATIC);
    else if (column < EXTRA_1)
        sqlite3_result_int64(context, numbers[column]);
    else if (column - EXTRA_1 < stream->extras)
        sqlite3_result_int64(context, cursor->extra[(size_t)(column - EXTRA_1) * cursor->count + cursor->at]);
    return SQLITE_OK;
}

static int vtab_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    const struct vtab_cursor *cursor = (const struct vtab_cursor *)base;
    *rowid = ((int64_t)cursor->stream << 48) + cursor->first + (int64_t)cursor->at;
    return SQLITE_OK;
}

int vtab_register(sqlite3 *db)
{
    static const sqlite3_module module = {
        .iVersion = 1,
        .xConnect = vtab_connect, /* no xCreate: it is there by itself, and only there */
        .xBestIndex = vtab_best_index,
        .xDisconnect = vtab_disconnect,
        .xOpen = vtab_open,
        .xClose = vtab_close,
        .xFilter = vtab_filter,
        .xNext = vtab_next,
        .xEof = vtab_eof,
        .xColumn = vtab_column,
        .xRowid = vtab_rowid,
    };
    return sqlite3_create_module_v2(db, "records", &module, NULL, NULL);
}

#ifdef OFFCHIP_EXTENSION
/* The table for the sqlite3 shell, Python and whatever else loads SQLite extensions:
 *
 *     sqlite3 trace.db -cmd '.load build/offchip_records' 'SELECT kind, count(*) FROM records GROUP BY kind'
 *
 * The name is what SQLite derives from the file's, offchip_records.so. */
SQLITE_EXTENSION_INIT1

__attribute__((visibility("default"))) int sqlite3_offchiprecords_init(sqlite3 *db, char **message,
                                                                       const sqlite3_api_routines *api);

int sqlite3_offchiprecords_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    (void)message;
    SQLITE_EXTENSION_INIT2(api);
    return vtab_register(db);
}
#endif
