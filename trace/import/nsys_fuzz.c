/* Any bytes as an export of Nsight Systems: as a file; patched into a sound one ('P': offset, value ...); or as rows of
 * its tables ('T': table, then a type and a value for each column), which reach deepest. The file is in memory
 * (/dev/shm). */
#include "trace/import/reader.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/import/testing_fuzz.h"

enum { TABLES = 11, COLUMNS_MAX = 9 };

static const struct {
    const char *make, *put;
    int columns;
} tables[TABLES] = {
    {"CUPTI_ACTIVITY_KIND_MEMCPY(start, end, globalPid, bytes, copyKind, migrationCause, virtualAddress)",
     "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(?,?,?,?,?,?,?)", 7},
    {"CUDA_UM_GPU_PAGE_FAULT_EVENTS(start, end, globalPid, address, numberOfPageFaults, faultAccessType)",
     "INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES(?,?,?,?,?,?)", 6},
    {"CUDA_UM_CPU_PAGE_FAULT_EVENTS(start, globalPid, address, originalFaultPc, CpuInstruction)",
     "INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES(?,?,?,?,?)", 5},
    {"CUPTI_ACTIVITY_KIND_KERNEL(start, end, globalPid, demangledName, shortName, gridX, blockX)",
     "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?,?,?,?,?,?,?)", 7},
    {"CUDA_GPU_MEMORY_USAGE_EVENTS(start, address, bytes, memKind, memoryOperationType)",
     "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES(?,?,?,?,?)", 5},
    {"NVTX_EVENTS(start, end, eventType, text, textId, globalTid)", "INSERT INTO NVTX_EVENTS VALUES(?,?,?,?,?,?)", 6},
    {"CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER(counterKind, value, start, end, address, flags, srcId, dstId, "
     "processId)",
     "INSERT INTO CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER VALUES(?,?,?,?,?,?,?,?,?)", 9},
    {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start, end, name, deviceId, gridX)",
     "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES(?,?,?,?,?)", 5},
    {"StringTable(_id_, value)", "INSERT INTO StringTable VALUES(?,?)", 2},
    {"StringIds(id, value)", "INSERT INTO StringIds VALUES(?,?)", 2},
    {"TARGET_INFO_GPU(id, name, totalMemory)", "INSERT INTO TARGET_INFO_GPU VALUES(?,?,?)", 3},
};

static char path[64];
static int file;
static sqlite3 *memory;
static sqlite3_stmt *put[TABLES];
static unsigned char *sound;
static sqlite3_int64 sound_bytes;

static void set_up(void)
{
    char sql[300];
    (void)snprintf(path, sizeof path, "/dev/shm/offchip-fuzz-nsys-%ld.sqlite", (long)getpid());
    file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || sqlite3_open(":memory:", &memory))
        abort();
    for (int t = 0; t < TABLES; t++) {
        (void)snprintf(sql, sizeof sql, "CREATE TABLE %s", tables[t].make);
        if (sqlite3_exec(memory, sql, NULL, NULL, NULL) || sqlite3_prepare_v2(memory, tables[t].put, -1, &put[t], NULL))
            abort();
    }
    static const char rows[] =
        "BEGIN; INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(300,350,7,65536,11,2,0x7f0000010000);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(5,900,7,1,1,1,1);"
        "INSERT INTO StringIds VALUES(1,'conv')";
    if (sqlite3_exec(memory, rows, NULL, NULL, NULL) || sqlite3_exec(memory, "COMMIT", NULL, NULL, NULL))
        abort();
    sound = sqlite3_serialize(memory, "main", &sound_bytes, 0);
    if (!sound)
        abort();
}

/* The value of one column from the input: small, wild, text, blob or nothing. */
static void bind(sqlite3_stmt *stmt, int column, const uint8_t **p, const uint8_t *end)
{
    int64_t wild = 0;
    const uint8_t *at = *p;
    int type = *at++ % 8;
    size_t most = type < 4 ? 2 : 8, n = (size_t)(end - at) < most ? (size_t)(end - at) : most;
    memcpy(&wild, at, n);
    *p = at + n;
    if (type < 6)
        (void)sqlite3_bind_int64(stmt, column, wild);
    else if (type == 6)
        (void)sqlite3_bind_text(stmt, column, (const char *)at, (int)n, SQLITE_STATIC);
    else
        (void)sqlite3_bind_null(stmt, column);
}

static void add_rows(const uint8_t *p, const uint8_t *end)
{
    (void)sqlite3_exec(memory, "BEGIN", NULL, NULL, NULL);
    while (p < end) {
        int t = *p++ % TABLES;
        for (int c = 1; c <= tables[t].columns && p < end; c++)
            bind(put[t], c, &p, end);
        (void)sqlite3_step(put[t]);
        (void)sqlite3_reset(put[t]);
        (void)sqlite3_clear_bindings(put[t]);
    }
    (void)sqlite3_exec(memory, "COMMIT", NULL, NULL, NULL);
}

static void write_file(const void *data, size_t n)
{
    if (ftruncate(file, 0) || pwrite(file, data, n, 0) != (ssize_t)n)
        abort();
}

static void write_rows(const uint8_t *data, size_t n)
{
    sqlite3_int64 bytes;
    add_rows(data, data + n);
    unsigned char *image = sqlite3_serialize(memory, "main", &bytes, 0);
    if (!image)
        abort();
    write_file(image, (size_t)bytes);
    sqlite3_free(image);
    static const char empty[] =
        "BEGIN; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY; DELETE FROM CUDA_UM_GPU_PAGE_FAULT_EVENTS;"
        "DELETE FROM CUDA_UM_CPU_PAGE_FAULT_EVENTS; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL;"
        "DELETE FROM CUDA_GPU_MEMORY_USAGE_EVENTS; DELETE FROM StringIds;"
        "DELETE FROM TARGET_INFO_GPU; DELETE FROM NVTX_EVENTS; DELETE FROM CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;"
        "DELETE FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL; DELETE FROM StringTable; COMMIT";
    if (sqlite3_exec(memory, empty, NULL, NULL, NULL))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!sound)
        set_up();
    if (n && data[0] == 'T') {
        write_rows(data + 1, n - 1);
    } else if (n && data[0] == 'P') {
        write_file(sound, (size_t)sound_bytes);
        for (size_t i = 1; i + 3 < n; i += 4) {
            size_t at = ((size_t)data[i] << 16 | (size_t)data[i + 1] << 8 | data[i + 2]) % (size_t)sound_bytes;
            if (pwrite(file, data + i + 3, 1, (off_t)at) != 1)
                abort();
        }
    } else {
        write_file(data, n);
    }
    unsigned char head[READER_PROBE_BYTES];
    ssize_t got = pread(file, head, sizeof head, 0);
    fuzzing_read(&read_nsys, path, NULL, head, got > 0 ? (size_t)got : 0);
    return 0;
}
