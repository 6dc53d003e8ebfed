/* Any bytes as a platform file, through a file in memory: a platform with a number in it whose
 * draws lie in its ranges, or an error. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "models/base/platform.h"
#include "trace/base/param.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was drawn lies where the file says. */
static void in_range(const struct platform *from, const struct platform *drawn)
{
    for (size_t s = 0; drawn && platform_sections[s]; s++)
        for (const struct param *row = platform_sections[s]->params; row->name; row++) {
            const char *section = platform_sections[s]->name;
            const struct platform_number *n = platform_number(from, section, row->name);
            double value = param_number(row, platform_section_get(drawn, section));
            if (n->state != PLATFORM_UNSTATED && !(n->low <= value && value <= n->high))
                abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {""};
    char path[40];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct platform *platform = platform_load(path, &err);
    if (!platform && !*err.msg)
        abort();
    for (uint32_t at = 0; platform && at < 2; at++) {
        struct platform *drawn = platform_draw(platform, size, at, 2, &err);
        in_range(platform, drawn);
        platform_free(drawn);
    }
    platform_free(platform);
    (void)close(fd);
    return 0;
}
