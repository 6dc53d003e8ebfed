/* uvm_bench WORKLOAD POLICY PCT [PARAMETER VALUE]: one run of the unified-memory engine on titanv at an
 * oversubscription of PCT; prints its page touches. `make bench` measures it. */
#include <stdio.h>
#include <stdlib.h>

#include "models/base/platform.h"
#include "replay/uvm/uvm_simulate.h"
#include "trace/base/param_value.h"
#include "trace/program/pages.h"
#include "trace/workloads/workload.h"

static int simulate(const struct platform *platform, char **argv, struct err *err)
{
    struct workload w;
    struct program program;
    static struct program_pages pages;
    const struct uvm_policy *policy = (const struct uvm_policy *)policy_find(uvm_policies, argv[2]);
    void *params = policy ? calloc(1, policy->head.state_size + 1) : NULL;
    if (!params || workload_open(&w, argv[1], err))
        return -1;
    if (!w.type->program)
        return err_set(err, "%s is no program", argv[1]);
    if (w.type->program(w.state, &program, err) || program_pages_init(&pages, &program, NULL, err))
        return -1;
    param_defaults(policy->head.params, params);
    int rc = argv[4] ? param_set(policy->head.params, params, argv[4], argv[5], err) : 0;
    struct uvm_run run = {.ops = &program_pages_ops,
                          .state = &pages,
                          .gpu = platform_section_get(platform, "gpu"),
                          .platform = platform_section_get(platform, "uvm"),
                          .policy = policy,
                          .policy_params = params,
                          .oversubscription_pct = strtol(argv[3], NULL, 10)};
    struct uvm_metrics m;
    if (!rc)
        rc = uvm_simulate(&run, &m, err);
    if (!rc)
        printf("%llu\n", (unsigned long long)m.touches);
    workload_close(&w);
    free(params);
    return rc;
}

int main(int argc, char **argv)
{
    struct err err = {""};
    struct platform *platform = argc == 4 || argc == 6 ? platform_load("titanv", &err) : NULL;
    int rc = platform ? simulate(platform, argv, &err) : -1;
    if (rc)
        (void)fprintf(stderr, "uvm_bench: %s\n", err.msg);
    platform_free(platform);
    return rc != 0;
}
