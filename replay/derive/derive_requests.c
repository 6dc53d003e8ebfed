#include <string.h>

#include "models/zerocopy/warp.h"
#include "replay/derive/derive_scans.h"
#include "replay/derive/derive_source.h"
#include "trace/derived/tlp_tally.h"
#include "trace/store/writer.h"

struct requesting {
    struct coalescer reads, writes;
    struct tlp_tally *tally;
    uint16_t upstream;
    struct writer writer;
    struct derive_scans scans;
    uint32_t launch;
    uint64_t atomics, pim;
    enum tlp_type type; /* of the requests being made */
    struct err *err;
    int failed; /* a request could not be stored */
};

/* A request of the coalescer, as a packet with a 4-word header (64-bit address), as GPUs send them. */
static void add_request(void *user, uint64_t addr, uint32_t bytes)
{
    struct requesting *q = user;
    struct record r = {.group = q->launch};
    const struct tlp tlp = {
        .type = q->type,
        .byte0 = q->type == TLP_MRD ? 0x20 : 0x60,
        .first_be = 15,
        .last_be = 15,
        .length_dw = (uint16_t)(bytes / 4),
        .tag = (uint16_t)(q->writer.total & 0x3ff),
        .bytes = (uint16_t)bytes,
        .addr = addr,
    };
    tlp_to_record(&tlp, &r);
    q->failed |=
        writer_add(&q->writer, &r, NULL, q->err) || tlp_tally_add(q->tally, q->type, q->upstream, bytes, q->err);
}

static int begin_launch(void *ctx, const struct record *kernel, struct err *err)
{
    struct requesting *q = ctx;
    coalescer_launch(&q->reads);
    struct record r = {.kind = RECORD_KERNEL, .id = kernel->id, .group = kernel->group};
    return writer_add(&q->writer, &r, NULL, err);
}

static int end_launch(void *ctx, uint32_t launch, struct err *err)
{
    struct requesting *q = ctx;
    struct record r = {.kind = RECORD_KERNEL_END, .group = launch};
    return writer_add(&q->writer, &r, NULL, err) || derive_scans_end(&q->scans, launch, err) ? -1 : 0;
}

int derive_coalesce(struct coalescer *c, const struct program_op *op, struct err *err)
{
    uint64_t sectors[4 * 2 * ACCESS_LANES];
    size_t n = 0;
    for (int i = 0; i < op->lines; i++)
        for (uint64_t s = 0; s < LINE_SECTORS; s++)
            if (op->line[i].sectors >> s & 1)
                sectors[n++] = op->line[i].addr / SECTOR_BYTES + s;
    /* The coalescer takes 128 sectors at once: more than 32 lines are two loads. */
    for (size_t at = 0; at < n; at += 128)
        if (coalescer_load(c, op->id, sectors + at, n - at < 128 ? n - at : 128, err))
            return -1;
    return 0;
}

static int take_op(void *ctx, const struct program_op *op, struct err *err)
{
    struct requesting *q = ctx;
    if (op->access != RECORD_READ && op->access != RECORD_WRITE) {
        *(op->access == RECORD_ATOMIC ? &q->atomics : &q->pim) += 1;
        return 0;
    }
    q->launch = op->launch;
    q->type = op->access == RECORD_READ ? TLP_MRD : TLP_MWR;
    q->err = err;
    if (derive_coalesce(op->access == RECORD_READ ? &q->reads : &q->writes, op, err))
        return -1;
    derive_scans_op(&q->scans, op);
    return q->failed ? -1 : 0;
}

static int store_totals(const struct requesting *q, struct store *out, struct err *err)
{
    const struct request_mix *r = &q->reads.mix, *w = &q->writes.mix;
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"tlps", mix_requests(r) + mix_requests(w)},
                {"reads", mix_requests(r)},
                {"requests", mix_requests(r)},
                {"requests_32", r->by_size[0]},
                {"requests_64", r->by_size[1]},
                {"requests_96", r->by_size[2]},
                {"requests_128", r->by_size[3]},
                {"payload_bytes", mix_payload(r)},
                {"host_dram_bytes", 64 * r->host_lines},
                {"write_requests", mix_requests(w)},
                {"write_payload_bytes", mix_payload(w)}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct store_value row[] = {STORE_V_INT(0), STORE_V_TEXT(rows[i].name), STORE_V_INT(rows[i].value)};
        if (store_row(out, "tlp_totals", row, 3, err))
            return -1;
    }
    if (q->pim && store_skip(out, "PIM request", q->pim, err))
        return -1;
    return q->atomics ? store_skip(out, "atomic access", q->atomics, err) : 0;
}

static int write_requests(struct requesting *q, const struct derive_source *source, struct store *out,
                          const struct derive_options *options, struct program_counts *counts, struct err *err)
{
    static const struct program_taker taker = {begin_launch, take_op, end_launch};
    int stream = writer_stream(out, "tlp", TIME_NONE, NULL, 0, err);
    q->tally = stream < 0 ? NULL : tlp_tally_new(err);
    if (!q->tally || derive_scans_open(&q->scans, source, out, options, err) ||
        writer_open(&q->writer, out, stream, 0, err))
        return -1;
    q->upstream = tlp_tally_direction(q->tally, "upstream");
    coalescer_init(&q->reads, options->reuse, add_request, q);
    coalescer_init(&q->writes, REUSE_NONE, add_request, q);
    if (derive_walk(source, options, &taker, q, counts, err) || writer_flush(&q->writer, err) ||
        derive_scans_flush(&q->scans, err) || tlp_tally_store(q->tally, out, err) || store_totals(q, out, err))
        return -1;
    counts->records = q->writer.total;
    return derive_launches_write(source, out, err);
}

int derive_requests(const struct derive_source *source, struct store *out, const struct derive_options *options,
                    struct program_counts *counts, struct err *err)
{
    struct requesting q;
    struct derive_options o = *options;
    memset(&q, 0, sizeof q);
    o.offloadable = true;
    int rc = write_requests(&q, source, out, &o, counts, err);
    coalescer_release(&q.reads);
    coalescer_release(&q.writes);
    tlp_tally_free(q.tally);
    derive_scans_close(&q.scans);
    writer_close(&q.writer);
    return rc;
}
