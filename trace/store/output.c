#include "trace/store/output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/mem.h"

static int name_part(struct output *output, struct err *err)
{
    size_t n = strlen(output->path) + sizeof ".part";
    output->part = mem_zalloc(n, 1, err);
    if (!output->part)
        return -1;
    (void)snprintf(output->part, n, "%s.part", output->path);
    return 0;
}

static void release(struct output *output)
{
    free(output->path);
    free(output->part);
    *output = (struct output){0};
}

int output_open(struct output *output, const char *path, struct err *err)
{
    struct stat st;
    *output = (struct output){.path = realpath(path, NULL)};
    if (!output->path)
        output->path = mem_strdup(path, err);
    bool special = output->path && stat(output->path, &st) == 0 && !S_ISREG(st.st_mode);
    int rc = !output->path || (!special && name_part(output, err)) ? -1 : 0;
    if (!rc) {
        output->file = fopen(special ? output->path : output->part, "wb");
        rc = output->file ? 0 : err_set(err, "cannot create '%s': %s", path, strerror(errno));
    }
    if (rc)
        release(output);
    return rc;
}

int output_close(struct output *output, int rc, struct err *err)
{
    errno = 0;
    bool failed = fflush(output->file) != 0 || ferror(output->file) != 0;
    int code = errno;
    if (fclose(output->file) && !failed) {
        failed = true;
        code = errno;
    }
    if (!rc && !failed && output->part && rename(output->part, output->path)) {
        failed = true;
        code = errno;
    }
    if (!rc && failed)
        rc = err_set(err, "cannot write '%s': %s", output->path, code ? strerror(code) : "an earlier write failed");
    if (rc && output->part)
        (void)unlink(output->part);
    release(output);
    return rc;
}
