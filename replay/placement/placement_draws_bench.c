/* placement_draws_bench PLATFORM TASKS.ini [DRAWS]: what draws of a platform's uncertain numbers make of a set of tasks
 * (placement_draws_testing.h). Rows what,of,stated,least,most,below: mean response of auto against device and managed
 * memory, percent, and in how many draws it is below 0; then the error of a time alone, its mean and its worst task.
 * Programs are looked at with cut=200000, as the reproduction has them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "replay/placement/placement_draws_testing.h"

static void print(const struct placement_draws *d)
{
    static const char *const modes[] = {"serial", "corun"}, *const over[] = {"device", "managed"};
    printf("what,of,stated,least,most,below\n");
    for (int corun = 0; corun < 2; corun++)
        for (int i = 0; i < PLACEMENT_OVERS; i++) {
            const struct placement_change *c = &d->change[corun][i];
            printf("%s,%s,%.4f,%.4f,%.4f,%u\n", modes[corun], over[i], c->stated, c->least, c->most, c->below);
        }
    for (int p = 0; p < PLACEMENTS; p++)
        printf("error,%s,%.4f,,%.4f,\n", placement_name((enum placement)p), d->spread[p].mean, d->spread[p].worst);
}

int main(int argc, char **argv)
{
    struct err err = {""};
    struct placement_draws out;
    long draws = argc > 3 ? strtol(argv[3], NULL, 10) : 24;
    struct platform *platform = argc >= 3 && draws > 0 && draws <= 100000 ? platform_load(argv[1], &err) : NULL;
    if (argc < 3 || draws <= 0 || draws > 100000)
        (void)err_set(&err, "expected PLATFORM TASKS.ini [DRAWS]");
    int rc = platform ? placement_draws_run(&out, platform, argv[2], (uint32_t)draws, 1, 200000, &err) : -1;
    if (rc)
        (void)fprintf(stderr, "placement_draws_bench: %s\n", err.msg);
    else
        print(&out);
    platform_free(platform);
    return rc != 0;
}
