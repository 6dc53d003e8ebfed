#include "trace/workloads/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/mem.h"
#include "trace/nearest.h"

extern const struct workload_type workload_launch_touch;
extern const struct workload_type workload_conv2d, workload_fdtd2d, workload_bicg, workload_nw, workload_triad;
extern const struct workload_type workload_array, workload_bfs, workload_cc, workload_expect, workload_fs,
    workload_gather, workload_kron, workload_ml, workload_pagerank, workload_sk, workload_sssp, workload_uk5,
    workload_urand;
extern const struct workload_type workload_pim_add, workload_pim_copy, workload_pim_daxpy, workload_pim_scale,
    workload_pim_bn_fwd, workload_pim_bn_bwd, workload_pim_fc, workload_pim_kmeans, workload_pim_grim,
    workload_pim_softmax, workload_gpu_g1, workload_gpu_g2, workload_gpu_g3, workload_gpu_g4, workload_gpu_g5,
    workload_gpu_g6, workload_gpu_g7, workload_gpu_g8, workload_gpu_g9, workload_gpu_g10, workload_gpu_g11,
    workload_gpu_g12, workload_gpu_g13, workload_gpu_g14, workload_gpu_g15, workload_gpu_g16, workload_gpu_g17,
    workload_gpu_g18, workload_gpu_g19, workload_gpu_g20, workload_llm;

const struct workload_type *const workload_types[] = {
    /* DRAM requests */ &workload_pim_add,
    &workload_pim_copy,
    &workload_pim_daxpy,
    &workload_pim_scale,
    &workload_pim_bn_fwd,
    &workload_pim_bn_bwd,
    &workload_pim_fc,
    &workload_pim_kmeans,
    &workload_pim_grim,
    &workload_pim_softmax,
    &workload_gpu_g1,
    &workload_gpu_g2,
    &workload_gpu_g3,
    &workload_gpu_g4,
    &workload_gpu_g5,
    &workload_gpu_g6,
    &workload_gpu_g7,
    &workload_gpu_g8,
    &workload_gpu_g9,
    &workload_gpu_g10,
    &workload_gpu_g11,
    &workload_gpu_g12,
    &workload_gpu_g13,
    &workload_gpu_g14,
    &workload_gpu_g15,
    &workload_gpu_g16,
    &workload_gpu_g17,
    &workload_gpu_g18,
    &workload_gpu_g19,
    &workload_gpu_g20,
    &workload_llm,
    /* page touches */ &workload_conv2d,
    &workload_fdtd2d,
    &workload_bicg,
    &workload_nw,
    &workload_triad,
    /* launches */ &workload_launch_touch,
    /* scans of host memory, graphs */ &workload_array,
    &workload_bfs,
    &workload_cc,
    &workload_sssp,
    &workload_pagerank,
    &workload_gather,
    &workload_expect,
    &workload_kron,
    &workload_urand,
    &workload_fs,
    &workload_ml,
    &workload_sk,
    &workload_uk5,
    NULL};

const struct workload_type *workload_find(const char *name)
{
    for (size_t i = 0; workload_types[i]; i++)
        if (strcmp(workload_types[i]->name, name) == 0)
            return workload_types[i];
    return NULL;
}

static int no_such_workload(const char *name, struct err *err)
{
    char hint[96];
    struct nearest nearest = {.word = name};
    for (size_t i = 0; workload_types[i]; i++)
        nearest_offer(&nearest, workload_types[i]->name);
    return err_set(err, "no workload is called '%s'; see 'offchip list workloads'%s", name,
                   nearest_hint(&nearest, hint, sizeof hint));
}

static int read_keys(struct workload *w, const char *keys, struct err *err)
{
    if (param_list_init(&w->keys, keys, err))
        return -1;
    w->params = mem_zalloc(1, w->type->params_size, err);
    return w->params ? param_list_apply(&w->keys, w->type->params, w->params, err) : -1;
}

static int open_type(struct workload *w, const char *keys, struct err *err)
{
    if (read_keys(w, keys, err))
        return -1;
    w->state = w->type->open(w->params, err);
    return w->state ? 0 : -1;
}

/* The type that the spec names; *keys is what follows the name. NULL with *err set if there is none. */
static const struct workload_type *type_of(const char *spec, const char **keys, struct err *err)
{
    size_t n = strcspn(spec, ",");
    char name[64];
    (void)snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), spec);
    const struct workload_type *type = workload_find(name);
    if (!type)
        (void)no_such_workload(name, err);
    *keys = spec[n] ? spec + n + 1 : "";
    return type;
}

int workload_check(const char *spec, struct err *err)
{
    const char *keys;
    struct workload w = {.type = type_of(spec, &keys, err)};
    if (!w.type)
        return -1;
    int rc = read_keys(&w, keys, err);
    if (rc)
        (void)err_at(err, "workload %s", w.type->name);
    param_list_release(&w.keys);
    free(w.params);
    return rc;
}

int workload_open(struct workload *workload, const char *spec, struct err *err)
{
    memset(workload, 0, sizeof *workload);
    const char *keys;
    workload->type = type_of(spec, &keys, err);
    if (!workload->type)
        return -1;
    if (open_type(workload, keys, err)) {
        const char *type_name = workload->type->name;
        workload_close(workload);
        return err_at(err, "workload %s", type_name);
    }
    return 0;
}

void workload_close(struct workload *workload)
{
    if (workload->state)
        workload->type->close(workload->state);
    free(workload->params);
    param_list_release(&workload->keys);
    memset(workload, 0, sizeof *workload);
}
