#include "replay/run/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/regular_file.h"
#include "trace/derived/limits.h"
#include "trace/graph/graph.h"
#include "trace/store/dbfile.h"

struct hashing {
    XXH3_state_t *state;
    struct err *err;
};

/* Hash a file that a workload's key names (graph=FILE, rows=FILE), or the text if it is no file. */
static int hash_file(void *ctx, const char *path)
{
    const struct hashing *to = ctx;
    struct err *err = to->err;
    enum { PIECE = 1 << 20 };
    int fd = regular_file_open(path, NULL);
    char *buf = fd < 0 ? NULL : mem_zalloc(PIECE, 1, err);
    if (!buf) {
        if (fd >= 0)
            (void)close(fd);
        return fd < 0 ? 0 : -1;
    }
    ssize_t n;
    while ((n = read(fd, buf, PIECE)) > 0)
        (void)XXH3_128bits_update(to->state, buf, (size_t)n);
    int rc = n < 0 ? err_set(err, "cannot read '%.200s': %s", path, strerror(errno)) : 0;
    (void)close(fd);
    free(buf);
    return rc;
}

/* The same of a graph, which may be the name that its parts begin with, or one of them. */
static int hash_named(struct hashing *to, const char *path)
{
    int rc = hash_file(to, path);
    for (size_t f = 0; graph_formats[f] && !rc; f++)
        if (graph_formats[f]->parts)
            rc = graph_format_files(graph_formats[f], path, hash_file, to);
    return rc;
}

/* Hash the spec and the files it names: everything that decides the input's content. */
static int hash_content(struct input *input, struct err *err)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return err_set(err, "out of memory");
    (void)XXH3_128bits_reset(state);
    (void)XXH3_128bits_update(state, input->spec, strlen(input->spec));
    const struct workload *w = &input->workload;
    struct hashing to = {state, err};
    int rc = w->type ? 0 : hash_file(&to, input->spec);
    for (const struct param *p = w->type ? w->type->params : NULL; !rc && p && p->name; p++)
        if (p->type == PARAM_TEXT && param_text(p, w->params))
            rc = hash_named(&to, param_text(p, w->params));
    XXH128_hash_t h = XXH3_128bits_digest(state);
    (void)XXH3_freeState(state);
    (void)snprintf(input->hash, sizeof input->hash, "%016llx%016llx", (unsigned long long)h.high64,
                   (unsigned long long)h.low64);
    return rc;
}

static int find_limits(struct input *input, struct err *err)
{
    input->limits = json_array();
    return limits_tell(input->store, input->spec, limits_collect, &input->limits, err) ||
                   json_tree_check(input->limits, err)
               ? -1
               : 0;
}

int input_check(const char *spec, struct err *err)
{
    return strncmp(spec, "synth:", 6) == 0 ? workload_check(spec + 6, err) : 0;
}

int input_open(struct input *input, const char *spec, const char *role, bool plain, struct err *err)
{
    memset(input, 0, sizeof *input);
    input->spec = spec;
    input->role = role;
    int rc;
    if (strncmp(spec, "synth:", 6) == 0) {
        rc = workload_open(&input->workload, spec + 6, err);
        if (!rc)
            rc = hash_content(input, err);
    } else if (plain && !dbfile_is_database(spec)) {
        int fd = regular_file_open(spec, err);
        rc = fd < 0 ? -1 : hash_content(input, err);
        if (fd >= 0)
            (void)close(fd);
    } else {
        input->store = store_open(spec, err);
        rc = !input->store || store_hash(input->store, input->hash, err) || find_limits(input, err) ? -1 : 0;
    }
    if (rc)
        input_close(input);
    return rc;
}

void input_close(struct input *input)
{
    if (input->workload.type)
        workload_close(&input->workload);
    store_close(input->store);
    json_decref(input->limits);
    memset(input, 0, sizeof *input);
}
