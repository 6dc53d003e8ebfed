/* launch: the cost of the host's calls, besides their work; section [launch] of a platform file.
 *
 * A call takes the host enqueue_ns. Its kernel starts alone_ns after the call, and no sooner than gap_ns after the end
 * of the one before. So kernels of x ns in a row take max(enqueue, x + gap) each, in GPU memory and over the link
 * alike, and one alone takes alone + x. Where the host waits, for a kernel's result or for cudaMemcpy(), its next call
 * follows wait_ns after the end. Worked example, h100, kernels of 1.35 us: one alone 8.03 us, 256 in a row 8.03 + 255 x
 * 3.51 us = 0.90 ms, 256 waited for 256 x 20.85 us = 5.3 ms.
 *
 * A driver thread serves cudaMemPrefetchAsync() of one array, one call after the other: prefetch_call_ns each, and for
 * each copied block of 2 MiB [uvm] prefetch_block_ns besides the copy. The GPU zeroes blocks without data at
 * zero_bytes_per_s. Host memory is page-locked at lock_bytes_per_s; cudaMemcpy() from other memory runs at
 * pageable_bytes_per_s. Source: measured, H100, driver 580.159.04, 2026-11, rows of fixtures/cuda/zero_copy_link.cu
 * (launch). Differs: a queue of any length; one stream. */
#pragma once

struct launch {
    double enqueue_ns, gap_ns, alone_ns, wait_ns;
    double prefetch_call_ns, prefetch_block_ns, zero_bytes_per_s;
    double lock_bytes_per_s, pageable_bytes_per_s;
};

/* When the next kernel starts whose predecessor on the GPU (a kernel, a copy, a prefetch) ends at end_ns. *free_ns:
 * when the host makes its next call; 0 at the beginning. */
double launch_start_ns(const struct launch *p, double *free_ns, double end_ns);

/* The host waits for what ends at end_ns. Returns when it goes on. */
double launch_wait_ns(const struct launch *p, double *free_ns, double end_ns);

/* n kernels of work_ns together, in a row. */
double launch_row_ns(const struct launch *p, double n, double work_ns);
