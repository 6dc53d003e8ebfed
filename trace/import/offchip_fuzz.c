/* Any bytes as a trace file: opened, every table and every stream read, hashed, queried and imported into another one.
 * The file is in memory (/dev/shm). Inputs that start with 'P' are patches (offset, value) on a small sound trace,
 * which reach deeper. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/import/reader.h"
#include "trace/import/testing_fuzz.h"
#include "trace/store/sql.h"
#include "trace/store/store.h"

enum { SOUND_MAX = 1 << 20 };

static char path[64];
static unsigned char sound[SOUND_MAX];
static size_t sound_bytes;

static void make_sound(void)
{
    struct err err = {""};
    struct stream s = {.name = "uvm", .unit = TIME_NS, .extra = {"x"}};
    int index;
    (void)snprintf(path, sizeof path, "/dev/shm/offchip-fuzz-%ld.db", (long)getpid());
    struct store *store = store_create(path, true, "fuzz", &err);
    if (!store || store_stream_add(store, &s, &index, &err))
        abort();
    for (int i = 0; i < 3000; i++) {
        struct record r = {.time = i * i, .kind = RECORD_TOUCH, .addr = (uint64_t)(i * 7919 % 512) << 12};
        int64_t extra = i % 5;
        if (store_append(store, index, &r, &extra, 1, &err))
            abort();
    }
    struct store_value name[] = {STORE_V_INT(1), STORE_V_TEXT("a")};
    if (store_row(store, "strings", name, 2, &err) || store_finish(store, &err))
        abort();
    store_close(store);
    int fd = open(path, O_RDONLY);
    ssize_t got = fd < 0 ? -1 : read(fd, sound, sizeof sound);
    if (got <= 0)
        abort();
    (void)close(fd);
    sound_bytes = (size_t)got;
}

static void write_file(const uint8_t *input, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        abort();
    if (size && input[0] == 'P') {
        if (write(fd, sound, sound_bytes) != (ssize_t)sound_bytes)
            abort();
        for (size_t i = 1; i + 4 < size; i += 4) {
            size_t at = ((size_t)input[i] << 16 | (size_t)input[i + 1] << 8 | input[i + 2]) % sound_bytes;
            if (pwrite(fd, input + i + 3, 1, (off_t)at) != 1)
                abort();
        }
    } else if (write(fd, input, size) != (ssize_t)size) {
        abort();
    }
    (void)close(fd);
}

static int ignore_row(void *ctx, const struct store_value *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *(size_t *)ctx += strlen(values[i].s);
    return 0;
}

static void read_everything(struct store *store)
{
    static const char *const tables[] = {"origin", "streams", "skipped", "strings", "kernels", "services"};
    struct err err = {""};
    size_t length = 0;
    char hash[33];
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        (void)store_rows(store, tables[i], ignore_row, &length, &err);
    (void)store_hash(store, hash, &err);
    for (int i = 0; i < store_stream_count(store); i++) {
        struct store_cursor *cursor = store_cursor_open(store, i, &err);
        const struct record *r;
        const int64_t *extra;
        size_t n;
        while (cursor && store_cursor_next(cursor, &r, &extra, &n, &err) == 1)
            length += record_kinds[r[n - 1].kind].name[0];
        store_cursor_close(cursor);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    struct err err = {""};
    if (!sound_bytes)
        make_sound();
    write_file(input, size);
    struct store *store = store_open(path, &err);
    if (store)
        read_everything(store);
    store_close(store);
    sqlite3 *db = sql_open(path, &err);
    if (db)
        (void)sqlite3_exec(db, "SELECT sum(time), kind FROM records WHERE time > 5 GROUP BY kind", NULL, NULL, NULL);
    sqlite3_close(db);
    fuzzing_read(&read_offchip, path, NULL, input, size);
    (void)unlink(path);
    return 0;
}
