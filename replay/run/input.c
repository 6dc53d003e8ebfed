#include "replay/run/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

static bool is_sqlite(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    char head[16];
    FILE *f = fopen(path, "rb");
    bool yes = f && fread(head, 1, sizeof head, f) == sizeof head && memcmp(head, magic, sizeof magic) == 0;
    if (f)
        (void)fclose(f);
    return yes;
}

/* Content of a file that a key of the workload names (graph=FILE, rows=FILE); what is no file counts by its text. */
static void hash_file(XXH3_state_t *state, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return;
    enum { PIECE = 1 << 20 };
    char *buf = malloc(PIECE);
    size_t n;
    while (buf && (n = fread(buf, 1, PIECE, f)) > 0)
        (void)XXH3_128bits_update(state, buf, n);
    free(buf);
    (void)fclose(f);
}

/* The spec and the files it names: all that decides what a workload or a plain file holds. */
static int hash_content(struct input *input, struct err *err)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return err_set(err, "out of memory");
    (void)XXH3_128bits_reset(state);
    (void)XXH3_128bits_update(state, input->spec, strlen(input->spec));
    const struct workload *w = &input->workload;
    if (!w->type)
        hash_file(state, input->spec);
    for (const struct param *p = w->type ? w->type->params : NULL; p && p->name; p++)
        if (p->type == PARAM_TEXT && param_text(p, w->params))
            hash_file(state, param_text(p, w->params));
    XXH128_hash_t h = XXH3_128bits_digest(state);
    (void)XXH3_freeState(state);
    (void)snprintf(input->hash, sizeof input->hash, "%016llx%016llx", (unsigned long long)h.high64,
                   (unsigned long long)h.low64);
    return 0;
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
    } else if (plain && !is_sqlite(spec)) {
        rc = access(spec, R_OK) ? err_set(err, "cannot open '%.200s': %s", spec, strerror(errno))
                                : hash_content(input, err);
    } else {
        input->store = store_open(spec, err);
        rc = input->store ? store_hash(input->store, input->hash, err) : -1;
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
    memset(input, 0, sizeof *input);
}
