/* Any records, as a hostile or damaged trace may hold them: verify says something about them and returns. */
#include "replay/verify/verify.h"

#include "trace/import/testing_fuzz.h"

enum { BYTES = 12, MAX = 4096 };

/* 12 bytes a record: near addresses and times mostly, so that records meet; now and then much later. Times begin
 * anew beyond the last. */
static struct record make(const uint8_t *p, int64_t *now)
{
    static const uint32_t kinds[] = {RECORD_MIGRATE_H2D, RECORD_MIGRATE_D2H, RECORD_CPU_FAULT,  RECORD_FAULT,
                                     RECORD_KERNEL,      RECORD_ALLOC,       RECORD_ADVISE,     RECORD_PREFETCH,
                                     RECORD_REMOTE_MAP,  RECORD_MIGRATE_H2D, RECORD_MIGRATE_H2D};
    struct record r = {.kind = kinds[p[0] % (sizeof kinds / sizeof *kinds)], .flags = p[1] % 7};
    *now = (*now + (p[2] > 250 ? RECORD_TIME_MAX / 64 * (p[2] - 250) / 8 : p[2] * 50)) & RECORD_TIME_MAX;
    r.time = p[3] & 1 ? *now : *now - 1000 * p[3];
    r.duration = p[4] > 250 ? RECORD_TIME_MAX : p[4] * 100;
    if (p[3] & 1 && r.duration < 100000)
        *now += r.duration;
    r.addr = ((uint64_t)(p[5] % 3) << 21) + ((uint64_t)p[6] << 13) + (p[7] > 200 ? p[7] : 0);
    if (p[5] > 250)
        r.addr = UINT64_MAX - p[6];
    r.bytes = p[8] > 250 ? (uint64_t)p[9] << 56 : ((uint64_t)p[8] << 12) + (p[9] > 200 ? p[9] : 0);
    r.id = p[10] > 128 ? UINT64_MAX : p[10];
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct record records[MAX];
    static const struct stream stream = {.name = "uvm", .unit = TIME_NS};
    struct err err;
    int index;
    int64_t now = 1000000;
    size_t count = n / BYTES < MAX ? n / BYTES : MAX;
    for (size_t i = 0; i < count; i++)
        records[i] = make(data + i * BYTES, &now);
    struct store *store = fuzzing_store();
    struct verify verify;
    if (store_stream_add(store, &stream, &index, &err) || store_append(store, index, records, NULL, count, &err) ||
        store_finish(store, &err))
        __builtin_trap();
    if (verify_run(&verify, store, (struct recording){RECORDING_ANY, RECORDING_ANY}, &err) == 0) {
        const struct metric_value *all = outcome_get(&verify.outcome, "services");
        const struct metric_value *exact = outcome_get(&verify.outcome, "services_exact");
        if (exact->whole > all->whole)
            __builtin_trap();
        verify_release(&verify);
    }
    return 0;
}
