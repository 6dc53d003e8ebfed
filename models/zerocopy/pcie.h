/* pcie: numbers of a GPU's link to host memory; section [pcie] of a platform file.
 *
 * 0 means "no such bound known" where a key says so. Times of link.h and lane.h are made from these alone. */
#ifndef MODELS_ZEROCOPY_PCIE_H
#define MODELS_ZEROCOPY_PCIE_H

#include <stdint.h>

#include "trace/base/param.h"

struct pcie {
    /* The wire. */
    double gigatransfers;     /* GT/s of a lane: 8, 16, 32 */
    int64_t lanes;            /* 1..32 */
    double efficiency;        /* what DLLPs, SKP ordered sets and the host leave of the raw rate */
    int64_t completion_bytes; /* overhead of a completion: 12 header + 4 STP token + 4 LCRC */
    int64_t request_bytes;    /* a read request on the wire: 16 header + 4 + 4 */
    int64_t request;          /* enum request_rule (warp.h) */
    /* Outstanding requests. */
    int64_t tags;         /* 0: no such bound */
    double round_trip_ns; /* tags / round trip is one constant: requests/s */
    /* Host memory. */
    double host_bytes_per_s; /* in whole 64 B lines; 0: no such bound */
    double jump_ns;          /* of host memory's time: a read that begins where none ended; 0: not modelled */
    double walk_ns;          /* the same: such a read beyond the reach has its translation fetched; 0: not modelled */
    double reach_bytes;      /* of host memory whose translations the GPU has at hand */
    double sharpness;        /* exponent that joins the bounds; large: the largest alone counts */
    /* The GPU's ability to issue. */
    double load_ns;         /* a load's latency, unloaded link; 0: not modelled */
    double further_ns;      /* a load's further requests, each so much behind the one before; 0: not modelled */
    double issue_sharpness; /* exponent for too few warps */
    double visit_ns;        /* reading a label in GPU memory, waited for; added to each dependent load */
    double chain_sharpness; /* exponent that joins a launch's longest list with its transfer */
    double launch_ns;       /* start and end of one launch */
    double vertex_ns;       /* per vertex and launch: a warp that finds its vertex inactive; 0: not modelled */
    /* Block copies. */
    int64_t copy_payload_bytes;   /* of one completion */
    double copy_setup_ns;         /* of one asynchronous copy */
    double cpu_rows_bytes_per_s;  /* the CPU copies scattered rows into a staging buffer */
    double cpu_lists_bytes_per_s; /* the CPU finds and copies the lists of active vertices */
    double peer_bytes_per_s;      /* from other GPUs (NVLink), all links together; 0: no such link */
    int64_t uvm_reserve_bytes;    /* GPU memory that managed data cannot have */
    /* L1 (lane.h); l1_shared_block 0 with l1_steady 0: not measured. */
    int64_t l1_block_bytes; /* shared memory that the system takes for each resident block */
    double l1_together;     /* re-fetch strength while blocks run in step (the first wave) */
    double l1_steady;       /* later; 0: no L1 model for this platform */
    double l1_group;        /* between loads that were issued together */
};

extern const struct param pcie_params[];

/* Raw rate, bytes/s in one direction: GT/s x lanes x 128/130 / 8. */
double pcie_raw_bytes_per_s(const struct pcie *p);

/* Rate of long block copies, useful bytes/s. */
double pcie_copy_bytes_per_s(const struct pcie *p);

#endif
