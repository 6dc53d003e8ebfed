/* Any records, as a recording: loading and every policy's answer neither crash nor hang, and what they give is in
 * order. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/base/sections.h"
#include "replay/uvm/uvm_answer.h"
#include "trace/base/param_value.h"

/* A record from eight bytes: kind, cause, time step, page, pages; now and then wild. Times begin anew beyond the last.
 */
static struct record record_of(const uint8_t *b, int64_t *now)
{
    static const uint32_t kinds[] = {RECORD_MIGRATE_H2D, RECORD_MIGRATE_H2D, RECORD_MIGRATE_D2H, RECORD_CPU_FAULT,
                                     RECORD_FAULT,       RECORD_ALLOC,       RECORD_KERNEL,      RECORD_EVICT};
    struct record r = {.kind = kinds[b[0] % 8], .flags = b[1] % 6u, .time = *now, .duration = b[2] * 100};
    *now = (*now + (b[2] < 250 ? b[2] * 100 : (int64_t)b[3] << 50)) & RECORD_TIME_MAX;
    r.addr = 0x7f0000000000ull + ((uint64_t)b[3] << 18) + (uint64_t)b[4] * 4096;
    r.bytes = (uint64_t)b[5] * 4096;
    if (b[6] == 255) {
        memcpy(&r.addr, b, 8);
        r.bytes <<= b[7] % 60;
    }
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct uvm_recording recording;
    struct uvm_platform platform;
    struct err err = {""};
    int64_t now = 0;
    size_t n = size / 8 < 2000 ? size / 8 : 2000;
    param_defaults(uvm_platform_params, &platform);
    uvm_recording_init(&recording);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct record r = record_of(data + i * 8, &now);
        rc = uvm_recording_add(&recording, &r, 1, &err);
    }
    if (rc == 0)
        rc = uvm_recording_finish(&recording, &err);
    const struct uvm_policy *policy;
    for (size_t p = 0; rc == 0 && recording.piece_count < 4096 && (policy = uvm_policy_of(uvm_policies[p])); p++) {
        struct outcome outcome;
        enum uvm_answer answer;
        struct uvm_answer_run run = {
            .loop = {.recording = &recording, .policy = policy, .platform = &platform, .traced = n % 2}};
        if (outcome_init(&outcome, uvm_metric_table, &err))
            break;
        if (uvm_answer_run(&run, &outcome, &answer, &err) == 0)
            for (size_t i = 0; i < outcome.count; i++)
                if (outcome.values[i].interval || outcome.values[i].real < 0)
                    abort();
        outcome_release(&outcome);
    }
    uvm_recording_release(&recording);
    return 0;
}
