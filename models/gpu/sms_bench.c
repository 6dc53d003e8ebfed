/* Warp loads a second of the multiprocessors alone, on one core: programs whose packets are all answered a fixed time
 * after they leave, at most one a cycle from each multiprocessor. usage: sms [SPEC [LATENCY [MULTIPROCESSORS]]] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "models/base/platform.h"
#include "models/gpu/sms.h"
#include "trace/workloads/workload.h"

struct note {
    int64_t t;
    uint32_t sm, token;
};

enum { NOTES = 1 << 17 };

static struct note notes[NOTES];

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns the last cycle. */
static int64_t run(struct sms *s, uint32_t words, int64_t latency, uint64_t *steps)
{
    uint64_t in = 0, out = 0;
    int64_t t = 0, next = 0;
    while (!sms_done(s)) {
        t = next;
        sms_step(s, t);
        ++*steps;
        bool waits = false;
        for (uint32_t i = 0; i < words; i++)
            for (uint64_t rest = sms_heads(s)[i]; rest; rest &= rest - 1) {
                uint32_t sm = i * 64 + (uint32_t)__builtin_ctzll(rest);
                if (in - out == NOTES) {
                    waits = true;
                    continue;
                }
                notes[in++ % NOTES] = (struct note){t, sm, sms_head(s, sm)->token};
                sms_pop(s, sm, t);
                waits |= sms_head(s, sm) != NULL;
            }
        for (; out < in && notes[out % NOTES].t + latency <= t; out++)
            sms_reply(s, notes[out % NOTES].sm, notes[out % NOTES].token, t);
        next = sms_next(s);
        if (waits && t + 1 < next)
            next = t + 1;
        if (out < in && notes[out % NOTES].t + latency < next)
            next = notes[out % NOTES].t + latency;
    }
    return t;
}

static int measure(const char *spec, int64_t latency, uint32_t sms)
{
    struct err err;
    struct workload w;
    struct program program;
    struct platform *platform = platform_load("gv100", &err);
    if (!platform || workload_open(&w, spec, &err) || w.type->program(w.state, &program, &err)) {
        printf("sms %-28s %s\n", spec, err.msg);
        return 1;
    }
    struct sms_options o = {.gpu = platform_section_get(platform, "gpu"),
                            .program = &program,
                            .sms = sms,
                            .input_room = 512,
                            .launch_cycles = 5000};
    struct sms *s = sms_new(&o, &err);
    if (!s || sms_start(s, 0, &err)) {
        printf("sms %-28s %s\n", spec, err.msg);
        return 1;
    }
    uint64_t steps = 0;
    double start = seconds();
    int64_t t = run(s, (sms + 63) / 64, latency, &steps);
    double spent = seconds() - start;
    struct sms_counts c;
    sms_counts(s, &c);
    double packets = (double)(c.packets_read + c.packets_write + c.packets_atomic);
    printf("sms %-28s %9llu cycles %9llu steps %7.2f M instructions/s %6.2f M loads/s %6.1f ns a packet %6.1f ns a "
           "sector %.3f hits %.0f packets\n",
           spec, (unsigned long long)t, (unsigned long long)steps, 1e-6 * (double)c.instructions / spent,
           1e-6 * (double)c.loads / spent, 1e9 * spent / packets,
           1e9 * spent / ((double)c.load_sectors + (double)c.packets_write),
           (double)c.hits / (double)(c.load_sectors ? c.load_sectors : 1), packets);
    sms_free(s);
    workload_close(&w);
    platform_free(platform);
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"triad,bytes=48MiB,blocks=4096", "conv2d,n=2048", "nw,n=2048",
                                        "pim-add,rows=16"};
    uint32_t sms = argc > 3 ? (uint32_t)atoi(argv[3]) : 80;
    if (argc > 1)
        return measure(argv[1], argc > 2 ? atoll(argv[2]) : 400, sms);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        measure(specs[i], 400, i == 3 ? 8 : sms);
    return 0;
}
