/* platform_choice: which platform a run is of: the one that was named, else that of the GPU that its recordings name,
 * else the engine's default. A recording whose GPU no platform is of gets none: whose numbers to
 * take instead is for the user to say.
 *
 * GPUs are compared by the name that their driver gives, as `record` and Nsight Systems keep it (origin gpu.N.name,
 * gpu.name.N), with the list `gpus` of each shipped platform. */
#ifndef REPLAY_RUN_PLATFORM_CHOICE_H
#define REPLAY_RUN_PLATFORM_CHOICE_H

#include "trace/store/store.h"

enum platform_choice_how {
    PLATFORM_CHOICE_GIVEN,
    PLATFORM_CHOICE_DEFAULT,
    PLATFORM_CHOICE_RECORDED,
};

struct platform_choice {
    enum platform_choice_how how;
    char name[256]; /* of the platform, or a file; a given one is not kept here */
    char gpu[128];  /* that the recording names; "": none */
};

/* The choice where no platform was named and no recording names its GPU. */
void platform_choice_default(const char *name, struct platform_choice *choice);

/* The platform of a recording. 1, or 0 if it names no GPU; -1 with *err set: it names one that no platform is of, and
 * the nearest platform is named, or several. */
int platform_choice_recorded(const struct store *store, struct platform_choice *choice, struct err *err);

/* The GPU that it names; NULL: none, or several. */
const char *platform_choice_gpu(const struct store *store);

/* Where a GPU of that name stands among generations: its compute capability, "9.0"; "" where the name does not tell. */
const char *platform_choice_compute(const char *gpu);

#endif
