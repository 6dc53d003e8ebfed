#include "models/dram/energy.h"

#include "models/base/platform.h"
#include "models/dram/dram_platform.h"

/* An end of a figure's range. */
static double figure(const struct platform *platform, const char *key, bool high)
{
    const struct platform_number *n = platform_number(platform, "dram", key);
    return high ? n->high : n->low;
}

static double sum(const struct platform *platform, const struct dram_energy_counts *counts, bool high)
{
    const struct dram_platform *d = platform_section_get(platform, "dram");
    const double channels = (double)d->channels, seconds = (double)counts->cycles / (double)d->clock_hz;
    const double refreshes = d->refresh == DRAM_REFRESH_NONE ? 0 : channels * (double)counts->cycles / (double)d->refi;
    return (double)counts->activates * figure(platform, "act_pj", high) * 1e-12 +
           (double)counts->columns * (double)d->atom_bytes * 8 * figure(platform, "bit_pj", high) * 1e-12 +
           refreshes * figure(platform, "refresh_nj", high) * 1e-9 +
           channels * seconds * figure(platform, "background_mw", high) * 1e-3;
}

bool dram_energy(const struct platform *platform, const struct dram_energy_counts *counts, double *low, double *high)
{
    const struct dram_platform *d = platform_section_get(platform, "dram");
    if (d->act_pj <= 0 || d->bit_pj <= 0 || d->refresh_nj <= 0 || d->background_mw <= 0)
        return false;
    *low = sum(platform, counts, false);
    *high = sum(platform, counts, true);
    return true;
}
