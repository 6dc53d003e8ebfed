#include "trace/whole.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/mem.h"

static int name_part(struct whole *whole, struct err *err)
{
    size_t n = strlen(whole->path) + sizeof ".part";
    whole->part = mem_zalloc(n, 1, err);
    if (!whole->part)
        return -1;
    (void)snprintf(whole->part, n, "%s.part", whole->path);
    return 0;
}

static void release(struct whole *whole)
{
    free(whole->path);
    free(whole->part);
    *whole = (struct whole){0};
}

int whole_open(struct whole *whole, const char *path, struct err *err)
{
    struct stat st;
    *whole = (struct whole){.path = realpath(path, NULL)};
    if (!whole->path)
        whole->path = mem_strdup(path, err);
    bool special = whole->path && stat(whole->path, &st) == 0 && !S_ISREG(st.st_mode);
    int rc = !whole->path || (!special && name_part(whole, err)) ? -1 : 0;
    if (!rc) {
        whole->file = fopen(special ? whole->path : whole->part, "wb");
        rc = whole->file ? 0 : err_set(err, "cannot create '%s': %s", path, strerror(errno));
    }
    if (rc)
        release(whole);
    return rc;
}

int whole_close(struct whole *whole, int rc, struct err *err)
{
    errno = 0;
    bool failed = fflush(whole->file) != 0 || ferror(whole->file) != 0;
    int code = errno;
    if (fclose(whole->file) && !failed) {
        failed = true;
        code = errno;
    }
    if (!rc && !failed && whole->part && rename(whole->part, whole->path)) {
        failed = true;
        code = errno;
    }
    if (!rc && failed)
        rc = err_set(err, "cannot write '%s': %s", whole->path, code ? strerror(code) : "an earlier write failed");
    if (rc && whole->part)
        (void)unlink(whole->part);
    release(whole);
    return rc;
}
