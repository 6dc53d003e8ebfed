/* energy: what a run's commands cost, from published figures of the device; always between two bounds.
 *
 *     E = activates act_pj + bits bit_pj + refreshes refresh_nj + channels time background_mw
 *
 * with the figures of [dram]; bits = columns x atom_bytes x 8, refreshes = channels x time / refi (a channel without
 * requests is refreshed as well), none where the platform models no refresh. The bounds take the low and the high end
 * of each figure's range. A device without one of the four figures has no energy.
 *
 * Source: the sum by commands, from currents, of DRAMsim3 and DRAMPower; the figures stand in the platforms. */
#ifndef MODELS_DRAM_ENERGY_H
#define MODELS_DRAM_ENERGY_H

#include <stdbool.h>
#include <stdint.h>

struct platform;

struct dram_energy_counts {
    int64_t activates, columns; /* of all channels */
    int64_t cycles;             /* of the DRAM clock: how long the device was on */
};

/* Joules. False: there are no figures. */
bool dram_energy(const struct platform *platform, const struct dram_energy_counts *counts, double *low, double *high);

#endif
