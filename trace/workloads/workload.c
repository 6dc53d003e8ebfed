#include "trace/workloads/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/mem.h"

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

static int open_type(struct workload *w, const char *keys, struct err *err)
{
    if (param_list_init(&w->keys, keys, err))
        return -1;
    w->params = mem_zalloc(1, w->type->params_size, err);
    if (!w->params)
        return -1;
    if (param_list_apply(&w->keys, w->type->params, w->params, err))
        return -1;
    w->state = w->type->open(w->params, err);
    return w->state ? 0 : -1;
}

int workload_open(struct workload *workload, const char *spec, struct err *err)
{
    memset(workload, 0, sizeof *workload);
    size_t n = strcspn(spec, ",");
    char name[64];
    (void)snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), spec);
    workload->type = workload_find(name);
    if (!workload->type)
        return err_set(err, "no workload is called '%s'; see 'offchip list workloads'", name);
    if (open_type(workload, spec[n] ? spec + n + 1 : "", err)) {
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
