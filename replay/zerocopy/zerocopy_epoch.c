#include "replay/zerocopy/zerocopy_epoch.h"

#include <math.h>

/* Two that use the same thing: side by side at best, one after the other at worst. */
static struct epoch_stage together(struct epoch_stage a, struct epoch_stage b)
{
    return (struct epoch_stage){fmax(a.lo, b.lo), a.hi + b.hi};
}

static struct epoch_stage slowest(struct epoch_stage a, struct epoch_stage b)
{
    return (struct epoch_stage){fmax(a.lo, b.lo), fmax(a.hi, b.hi)};
}

struct epoch_stage epoch_bounds(const struct epoch *e)
{
    struct epoch_stage training = e->training, longest;
    if (e->cpu_gathers) {
        longest = slowest(together(e->sampler, e->gather), training);
    } else if (e->share < 1) {
        training.hi /= 1 - e->share;
        longest = slowest(slowest(e->sampler, e->gather), training);
    } else {
        longest = slowest(e->sampler, together(e->gather, training));
    }
    double rest = (double)e->batches - 1;
    return (struct epoch_stage){e->sampler.lo + e->gather.lo + training.lo + rest * longest.lo,
                                e->sampler.hi + e->gather.hi + training.hi + rest * longest.hi};
}

struct epoch_stage epoch_on_host(struct epoch_stage one, uint64_t gpus)
{
    return (struct epoch_stage){one.lo, one.hi * (double)gpus};
}
