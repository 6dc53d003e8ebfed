#include "models/base/platform.h"
#include "models/gpu/sms_testing.h"
#include "trace/workloads/workload.h"

/* Reads in flight that occupancy and order allow: resident warps x sectors of the loads that a warp issues before it
 * first waits for one, per multiprocessor; of kernels that do not camp, in their artifact's launch shapes, cut down to
 * 8 multiprocessors. Blocks and sectors: counted in PTX that nvcc 13.0 -O3 makes, and in the kernels' sources. */
enum { SMS = 8 };

struct bound {
    const char *spec;
    double warps, sectors;
    uint32_t launches; /* looked at */
};

static const struct bound bounds[] = {
    {"rodinia-nn,n=40000", 64, 8, 1},
    {"rodinia-pathfinder,cols=10000,rows=5", 40, 5, 2},
    {"rodinia-kmeans,n=16384", 64, 32, 1},
    {"rodinia-srad-v2,rows=256,cols=256,iterations=1", 64, 4, 1},
    {"rodinia-srad-v2,rows=256,cols=256,iterations=1", 64, 8, 2}, /* k2: dN is needed behind dS */
    {"rodinia-hotspot,n=256", 56, 6, 1},
    {"rodinia-hotspot3d,iterations=1", 48, 5, 1},
    {"rodinia-backprop,n=16384", 64, 6, 2},
    {"rodinia-lavamd,boxes=5", 32, 32, 1},
    {"rodinia-streamcluster,n=8192,launches=1,dim=64", 32, 32, 1}, /* weights and costs, 32 B apart */
};

/* The largest number of reads that are neither answered nor still to be asked for. */
static uint64_t most_in_flight(struct sms *s, uint32_t launches, int64_t latency)
{
    struct sink k = {.latency = latency};
    struct sms_counts c = {0};
    uint64_t most = 0, answered = 0;
    ck_assert_int_eq(sms_start(s, 0, NULL), 0);
    for (int64_t t = 0, next; !sms_done(s) && c.launches < launches; t = next) {
        size_t from = k.answered;
        next = sink_cycle(&k, s, SMS, t);
        for (size_t i = from; i < k.answered; i++)
            answered += k.note[i].packet.kind == RECORD_READ;
        sms_counts(s, &c);
        most = c.packets_read - answered > most ? c.packets_read - answered : most;
    }
    sink_release(&k);
    return most;
}

static void check_bound(const struct bound *b, struct gpu gpu)
{
    struct workload w;
    struct program program;
    struct err err = {""};
    ck_assert_msg(workload_open(&w, b->spec, &err) == 0, "%s: %s", b->spec, err.msg);
    ck_assert_int_eq(w.type->program(w.state, &program, &err), 0);
    gpu.sms = SMS;
    struct sms_options o = {.gpu = &gpu, .program = &program, .sms = SMS, .input_room = 512};
    struct sms *s = sms_new(&o, &err);
    ck_assert_msg(s != NULL, "%s: %s", b->spec, err.msg);
    double bound = b->warps * b->sectors * SMS;
    uint64_t most = most_in_flight(s, b->launches, 3000);
    printf("%-48s %6llu in flight, at most %6.0f; of 80 multiprocessors on 32 channels %5.0f of %5.0f\n", b->spec,
           (unsigned long long)most, bound, (double)most * 80 / SMS / 32, bound * 80 / SMS / 32);
    ck_assert_msg((double)most <= bound, "%s: %llu in flight", b->spec, (unsigned long long)most);
    ck_assert_msg((double)most > bound / 8, "%s: only %llu in flight", b->spec, (unsigned long long)most);
    sms_free(s);
    workload_close(&w);
}

START_TEST(no_more_reads_are_in_flight_than_occupancy_and_order_allow)
{
    struct platform *p = platform_load("gv100", NULL);
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        check_bound(&bounds[i], *(const struct gpu *)platform_section_get(p, "gpu"));
    platform_free(p);
}
END_TEST

TEST_MAIN("sms_rodinia")
