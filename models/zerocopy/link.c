#include "models/zerocopy/link.h"
#include "models/base/sections.h"
#include "trace/base/param.h"

#include <math.h>
#include <string.h>

/* --- section [pcie] --- */

/* Defaults: PCIe 3.0 x16 framing (PCI Express Base Specification 3.0, section 4.2.2: 128b/130b, 4 B STP token, 4 B
 * LCRC; 3-DW completion header, 4-DW request header); no bound that a platform file does not state. */
const struct param pcie_params[] = {
    PARAM_REAL_ROW(pcie, gigatransfers, "GT/s", 2.5, 128, 8, "of a lane"),
    PARAM_INT_ROW(pcie, lanes, "", 1, 32, 16, "lanes"),
    PARAM_REAL_ROW(pcie, efficiency, "", 0.1, 1, 0.9, "share of the raw rate that data and headers can use"),
    PARAM_INT_ROW(pcie, completion_bytes, "bytes", 0, 64, 20, "overhead of a completion: header, token, LCRC"),
    PARAM_INT_ROW(pcie, request_bytes, "bytes", 0, 64, 24, "a read request on the wire"),
    PARAM_CHOICE_ROW(pcie, request, "run|line", 0, "a read for each run of a load's sectors, or for a line of them"),
    PARAM_INT_ROW(pcie, tags, "", 0, 1 << 20, 0, "outstanding requests; 0: no such bound"),
    PARAM_REAL_ROW(pcie, round_trip_ns, "ns", 1, 1e9, 1000, "round trip of a request under load"),
    PARAM_REAL_ROW(pcie, host_bytes_per_s, "bytes/s", 0, 1e13, 0, "host memory, in 64 B lines; 0: no such bound"),
    PARAM_REAL_ROW(pcie, jump_ns, "ns", 0, 1e6, 0, "host memory, a read that begins where none ended; 0: not modelled"),
    PARAM_REAL_ROW(pcie, walk_ns, "ns", 0, 1e6, 0, "address translation of a read beyond reach_bytes; 0: not modelled"),
    PARAM_REAL_ROW(pcie, reach_bytes, "bytes", 0, 0x1p50, 0, "host memory whose translations the GPU keeps"),
    PARAM_REAL_ROW(pcie, sharpness, "", 1, 1000, 12, "exponent that joins the bounds"),
    PARAM_REAL_ROW(pcie, load_ns, "ns", 0, 1e6, 0, "latency of a load, unloaded link; 0: not modelled"),
    PARAM_REAL_ROW(pcie, further_ns, "ns", 0, 1e6, 0, "a further request of a load; 0: not modelled"),
    PARAM_REAL_ROW(pcie, issue_sharpness, "", 1, 1000, 3.5, "exponent for too few warps"),
    PARAM_REAL_ROW(pcie, visit_ns, "ns", 0, 1e6, 0, "GPU memory read for an element, waited for"),
    PARAM_REAL_ROW(pcie, chain_sharpness, "", 1, 1000, 1.4, "exponent that joins the longest list with the transfer"),
    PARAM_REAL_ROW(pcie, vertex_ns, "ns", 0, 1e6, 0, "per vertex and launch; 0: not modelled"),
    PARAM_INT_ROW(pcie, copy_payload_bytes, "bytes", 16, 4096, 128, "payload of a block copy's completions"),
    PARAM_REAL_ROW(pcie, copy_setup_ns, "ns", 0, 1e9, 3160, "of one asynchronous copy"),
    /* Rows: gather then copy gives about half of zero-copy on an RTX 3090 (dissertation, section 3.5). Lists: fitted to
     * the four published BFS times of Subway on a V100 (dissertation, table 2.4). */
    PARAM_REAL_ROW(pcie, cpu_rows_bytes_per_s, "bytes/s", 1e6, 1e13, 23.5e9, "the CPU gathers rows"),
    PARAM_REAL_ROW(pcie, cpu_lists_bytes_per_s, "bytes/s", 1e6, 1e13, 3.5e9, "the CPU gathers active lists"),
    PARAM_REAL_ROW(pcie, peer_bytes_per_s, "bytes/s", 0, 1e13, 0, "from other GPUs, all links together; 0: none"),
    PARAM_BYTES_ROW(pcie, uvm_reserve_bytes, 0, 0x1p40, 322122547, "GPU memory that managed data cannot have"),
    PARAM_BYTES_ROW(pcie, l1_block_bytes, 0, 1 << 20, 1024, "shared memory that the system takes for a resident block"),
    PARAM_REAL_ROW(pcie, l1_together, "", 0, 1000, 0, "L1 re-fetch strength of blocks in step"),
    PARAM_REAL_ROW(pcie, l1_steady, "", 0, 1000, 0, "L1 re-fetch strength later; 0: not measured"),
    PARAM_REAL_ROW(pcie, l1_group, "", 0, 1000, 0, "L1 re-fetch strength between loads issued together"),
    {0}};

double pcie_raw_bytes_per_s(const struct pcie *p)
{
    return p->gigatransfers * 1e9 * (double)p->lanes * 128 / 130 / 8;
}

/* Rate of long block copies, useful bytes/s. */
static double copy_bytes_per_s(const struct pcie *p)
{
    double payload = (double)p->copy_payload_bytes;
    return p->efficiency * pcie_raw_bytes_per_s(p) * payload / (payload + (double)p->completion_bytes);
}

/* --- a launch --- */

/* (sum of x^s)^(1/s), safe for large s. */
static double link_join(const double *x, int n, double s)
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

/* The parts of link_service_ns(), each alone. */
static void link_bounds_ns(const struct pcie *p, const struct request_mix *mix, double t[LINK_ISSUE])
{
    double n = (double)mix_requests(mix), rate = p->efficiency * pcie_raw_bytes_per_s(p);
    double down = (double)mix_payload(mix) + (double)p->completion_bytes * n, up = (double)p->request_bytes * n;
    t[LINK_WIRE] = fmax(down, up) / rate * 1e9;
    t[LINK_TAGS] = p->tags ? n * p->round_trip_ns / (double)p->tags : 0;
    t[LINK_HOST] = p->host_bytes_per_s > 0 ? 64 * (double)mix->host_lines / p->host_bytes_per_s * 1e9 : 0;
}

static double walks_ns(const struct pcie *p, double jumps, double span)
{
    return span > p->reach_bytes ? jumps * (1 - p->reach_bytes / span) * p->walk_ns : 0;
}

double link_walked_ns(const struct pcie *p, double read_ns, double jumps, double span)
{
    const double t[2] = {read_ns, walks_ns(p, jumps, span)};
    return t[1] > 0 ? link_join(t, 2, p->sharpness) : read_ns;
}

/* Host memory's lines, and what reads far apart cost besides: of its time, and translations beside it. */
static double host_ns(const struct pcie *p, const struct link_launch *l, double lines_ns)
{
    const double t[2] = {lines_ns + l->jumps * p->jump_ns, walks_ns(p, l->jumps, l->span)};
    return link_join(t, 2, p->sharpness);
}

double link_service_ns(const struct pcie *p, const struct request_mix *mix)
{
    double t[LINK_ISSUE];
    link_bounds_ns(p, mix, t);
    return link_join(t, LINK_ISSUE, p->sharpness);
}

double link_beside_ns(const struct pcie *p, double read_ns, double requests, double stored, double piece)
{
    const double up = (double)p->request_bytes * (requests + stored / piece) + stored;
    const double ways[2] = {read_ns, up / (p->efficiency * pcie_raw_bytes_per_s(p)) * 1e9};
    return stored > 0 ? link_join(ways, 2, p->sharpness) : read_ns;
}

double link_time_ns(const struct pcie *p, const struct gpu *gpu, const struct link_launch *l, enum link_bound *bound)
{
    double t[LINK_BOUNDS] = {0};
    link_bounds_ns(p, &l->mix, t);
    t[LINK_HOST] = host_ns(p, l, t[LINK_HOST]);
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
    return link_join(chain, 2, p->chain_sharpness) + p->vertex_ns * l->vertices;
}

double link_copy_ns(const struct pcie *p, double bytes, double copies)
{
    return copies * p->copy_setup_ns + bytes / copy_bytes_per_s(p) * 1e9;
}

const struct param batch_params[] = {
    PARAM_REAL_ROW(link_batch, block_ns, "ns", 0, 1e9, 515, "of a block of a batched copy, besides its bytes"),
    PARAM_REAL_ROW(link_batch, small_ns, "ns", 0, 1e9, 1057, "the same of a small block"),
    PARAM_REAL_ROW(link_batch, small_bytes, "bytes", 0, 1e9, 16384, "a block of fewer is small"),
    {0}};

double link_batch_ns(const struct pcie *p, const struct link_batch *b, double blocks, double block_bytes)
{
    return link_copy_ns(p, blocks * block_bytes, 1) +
           blocks * (block_bytes < b->small_bytes ? b->small_ns : b->block_ns);
}

enum { LOOK = 64, WITHOUT_TAGS = 256 };

void link_queue_init(struct link_queue *q, const struct pcie *p)
{
    memset(q, 0, sizeof *q);
    q->sharpness = p->sharpness;
    q->half = (uint32_t)(p->tags ? p->tags : WITHOUT_TAGS) / 2;
    q->half += q->half == 0;
    q->look = 1;
    for (uint32_t from = 0; from < LINE_SECTORS; from++)
        for (uint32_t to = from; to < LINE_SECTORS; to++) {
            struct request_mix one = {0};
            mix_run(&one, from, to);
            link_bounds_ns(p, &one, q->of[from][to]);
        }
}

/* The weights of what is around. */
static void look(struct link_queue *q)
{
    double sum[LINK_ISSUE], f = 0;
    for (int i = 0; i < LINK_ISSUE; i++)
        sum[i] = q->now[i] + q->before[i];
    f = link_join(sum, LINK_ISSUE, q->sharpness);
    for (int i = 0; i < LINK_ISSUE; i++)
        q->weight[i] = f > 0 ? pow(sum[i] / f, q->sharpness - 1) : 0;
    if (q->n < q->half) {
        q->look = q->n + (q->n < LOOK ? q->n : LOOK);
        return;
    }
    memcpy(q->before, q->now, sizeof q->before);
    memset(q->now, 0, sizeof q->now);
    q->n = 0;
    q->look = q->half < LOOK ? q->half : LOOK;
}

static double weigh(const struct link_queue *q, const double *bounds)
{
    double ns = 0;
    for (int i = 0; i < LINK_ISSUE; i++)
        ns += q->weight[i] * bounds[i];
    return ns;
}

double link_queue_add(struct link_queue *q, uint32_t from, uint32_t to)
{
    const double *bounds = q->of[from][to];
    for (int i = 0; i < LINK_ISSUE; i++)
        q->now[i] += bounds[i];
    if (++q->n >= q->look)
        look(q);
    return weigh(q, bounds);
}

double link_queue_grow(struct link_queue *q, uint32_t had_from, uint32_t had_to, uint32_t from, uint32_t to)
{
    const double *had = q->of[had_from][had_to], *bounds = q->of[from][to];
    for (int i = 0; i < LINK_ISSUE; i++)
        q->now[i] += bounds[i] - had[i];
    return weigh(q, bounds) - weigh(q, had);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool counter_sizes(uint64_t n, uint64_t s, struct counter_sizes *b)
{
    if (n > UINT64_MAX / LINE_SECTORS || s < n || s > LINE_SECTORS * n)
        return false;
    uint64_t above = s - n, below = LINE_SECTORS * n - s; /* sectors over all-32 B, and under all-128 B */
    for (uint64_t k = 1; k <= LINE_SECTORS; k++) {
        /* c requests of k sectors leave n - c requests, which take any n - c to 4 (n - c) sectors. */
        uint64_t most = n;
        if (k > 1)
            most = smaller(most, above / (k - 1));
        if (k < LINE_SECTORS)
            most = smaller(most, below / (LINE_SECTORS - k));
        b->most[k - 1] = most;
        b->least[k - 1] = 0;
    }
    /* Without 32 B at least 2 sectors each; without 128 B at most 3. One sector over needs a 64 B request, one under a
     * 96 B request; any other number is reached without them. */
    b->least[0] = above < n ? n - above : 0;
    b->least[3] = below < n ? n - below : 0;
    b->least[1] = above == 1;
    b->least[2] = below == 1;
    return true;
}
