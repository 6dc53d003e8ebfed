#include "replay/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

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

static int hash_workload(struct input *input, struct err *err)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return err_set(err, "out of memory");
    (void)XXH3_128bits_reset(state);
    (void)XXH3_128bits_update(state, input->spec, strlen(input->spec));
    const struct workload *w = &input->workload;
    for (const struct param *p = w->type->params; p && p->name; p++)
        if (p->type == PARAM_TEXT && param_text(p, w->params))
            hash_file(state, param_text(p, w->params));
    XXH128_hash_t h = XXH3_128bits_digest(state);
    (void)XXH3_freeState(state);
    (void)snprintf(input->hash, sizeof input->hash, "%016llx%016llx", (unsigned long long)h.high64,
                   (unsigned long long)h.low64);
    return 0;
}

int input_open(struct input *input, const char *spec, const char *role, struct err *err)
{
    memset(input, 0, sizeof *input);
    input->spec = spec;
    input->role = role;
    int rc;
    if (strncmp(spec, "synth:", 6) == 0) {
        rc = workload_open(&input->workload, spec + 6, err);
        if (!rc)
            rc = hash_workload(input, err);
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
