#include "models/zerocopy/link.h"

#include <math.h>

double link_join(const double *x, int n, double s)
{
    double top = 0, sum = 0;
    for (int i = 0; i < n; i++)
        top = fmax(top, x[i]);
    if (top == 0)
        return 0;
    for (int i = 0; i < n; i++)
        sum += pow(x[i] / top, s);
    return top * pow(sum, 1 / s);
}

void link_bounds_ns(const struct pcie *p, const struct request_mix *mix, double t[LINK_ISSUE])
{
    double n = (double)mix_requests(mix), rate = p->efficiency * pcie_raw_bytes_per_s(p);
    double down = (double)mix_payload(mix) + (double)p->completion_bytes * n, up = (double)p->request_bytes * n;
    t[LINK_WIRE] = fmax(down, up) / rate * 1e9;
    t[LINK_TAGS] = p->tags ? n * p->round_trip_ns / (double)p->tags : 0;
    t[LINK_HOST] = p->host_bytes_per_s > 0 ? 64 * (double)mix->host_lines / p->host_bytes_per_s * 1e9 : 0;
}

/* What reads far apart cost host memory besides its lines. */
static double scattered_ns(const struct pcie *p, const struct link_launch *l)
{
    double beyond = l->span > p->reach_bytes ? 1 - p->reach_bytes / l->span : 0;
    return l->jumps * (p->jump_ns + beyond * p->walk_ns);
}

double link_service_ns(const struct pcie *p, const struct request_mix *mix)
{
    double t[LINK_ISSUE];
    link_bounds_ns(p, mix, t);
    return link_join(t, LINK_ISSUE, p->sharpness);
}

double link_time_ns(const struct pcie *p, const struct gpu *gpu, const struct link_launch *l, enum link_bound *bound)
{
    double t[LINK_BOUNDS] = {0};
    link_bounds_ns(p, &l->mix, t);
    t[LINK_HOST] += scattered_ns(p, l);
    double transfer = link_join(t, LINK_ISSUE, p->sharpness);
    double warps = l->resident_warps > 0 ? l->resident_warps : (double)(gpu->sms * gpu->warps_per_sm);
    double at_once = l->loads_at_once > 0 ? l->loads_at_once : 1;
    double further = l->loads > 0 ? fmax(0, (double)mix_requests(&l->mix) - l->loads) : 0;
    double issue[2] = {transfer, (l->loads * p->load_ns + further * p->further_ns) / (warps * at_once)};
    double chain[2] = {link_join(issue, 2, p->issue_sharpness), l->chain_ns};
    t[LINK_ISSUE] = fmax(issue[1], chain[1]);
    *bound = LINK_WIRE;
    for (int i = 1; i < LINK_BOUNDS; i++)
        if (t[i] > t[*bound])
            *bound = (enum link_bound)i;
    return link_join(chain, 2, p->chain_sharpness) + p->launch_ns + p->vertex_ns * l->vertices;
}

double link_copy_ns(const struct pcie *p, double bytes, double copies)
{
    return copies * p->copy_setup_ns + bytes / pcie_copy_bytes_per_s(p) * 1e9;
}
