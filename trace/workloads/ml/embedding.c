/* embedding: rows of embedding tables in host memory, looked up into a dense output, as models of recommendation do.
 *
 *     for each batch: for (i = thread; i < lookups x row; i += threads in all) out[i] = table[index[i / row]][i % row]
 *
 * The tables lie one behind the other and have as many rows each; lookup i is one of table i mod tables. Which row:
 * indices=FILE (numbers, or what a recorded kernel read: gather_recorded.c), or drawn by Zipf's law: the row of place k
 * is asked for as often as 1 / k^zipf, and places are spread over the table. zipf=0: all alike. Batches are launches.
 * Worked example, tables=2, rows=100: lookups 0 and 2 are of rows 0 to 99 of the whole, lookups 1 and 3 of 100 to 199.
 * Source: the loop above (the kernel is gather's). Drawing: rejection-inversion, Hoermann and Derflinger, ACM TOMACS
 * 1996. Differs: rows that a model adds up to bags are written one by one here; what is read is the same. */
#include <math.h>

#include "trace/base/mem.h"
#include "trace/base/random.h"
#include "trace/workloads/ml/gather.h"

struct embedding {
    int64_t tables, rows, row_bytes, lookups, batches, seed, order, reuse;
    double zipf;
    const char *indices, *recorded;
};

static const struct param embedding_keys[] = {
    PARAM_INT_ROW(embedding, tables, "", 1, 1 << 20, 1, "tables of as many rows, behind each other"),
    PARAM_INT_ROW(embedding, rows, "", 0, 0x1p40, 0, "of a table; 0: 1048576, or what the file needs"),
    PARAM_BYTES_ROW(embedding, row_bytes, GATHER_ELEMENT, 1 << 24, 512, "of a row, a multiple of 4"),
    PARAM_INT_ROW(embedding, lookups, "", 1, 1e9, 1 << 20, "in all, where no file is given"),
    PARAM_INT_ROW(embedding, batches, "", 1, 1 << 20, 1, "launches that the lookups are shared among"),
    PARAM_REAL_ROW(embedding, zipf, "", 0, 10, 1, "exponent of Zipf's law; 0: rows are drawn uniformly"),
    PARAM_TEXT_ROW(embedding, indices, NULL,
                   "row numbers in their tables: .npy, text, or a trace of accesses, FILE[@FIRST-LAST]"),
    PARAM_TEXT_ROW(embedding, recorded, NULL,
                   "file of the row numbers of another run, over all tables: what resident=recorded ranks by"),
    PARAM_CHOICE_ROW(embedding, order, "given|sorted", 0, "rows of a batch as they come, or by number"),
    PARAM_CHOICE_ROW(embedding, reuse, SCAN_REUSE_NAMES, 0, "which sectors are not requested again"),
    PARAM_INT_ROW(embedding, seed, "", 0, 0x1p53, 1, "of the draws"),
    {0}};

/* --- Zipf's law ---
 *
 * H is the integral of x^-s. A point under it, from H(1.5) - 1 to H(n + 0.5), is drawn and taken back to x; k is the
 * whole number nearest to x, and it counts if the point lies under k's bar. */
struct zipf {
    double s, low, high, n;
};

static double integral(double s, double x)
{
    return fabs(s - 1) < 1e-9 ? log(x) : (pow(x, 1 - s) - 1) / (1 - s);
}

static double inverse(double s, double y)
{
    return fabs(s - 1) < 1e-9 ? exp(y) : pow(fmax(1 + y * (1 - s), 0), 1 / (1 - s));
}

/* A place from 1 to n. */
static uint64_t draw(const struct zipf *z, struct random *random)
{
    for (;;) {
        const double y = z->low + (double)(random_next(random) >> 11) * 0x1p-53 * (z->high - z->low);
        const double k = fmin(fmax(round(inverse(z->s, y)), 1), z->n);
        if (y >= integral(z->s, k + 0.5) - pow(k, -z->s))
            return (uint64_t)k;
    }
}

/* The greatest that both have. */
static uint64_t divisor(uint64_t a, uint64_t b)
{
    return b ? divisor(b, a % b) : a;
}

/* Lookup i's row in its table. Places are spread by a factor that has no divisor in common with the rows. */
static void draw_rows(const struct embedding *e, uint64_t *rows, size_t n)
{
    const uint64_t each = (uint64_t)e->rows;
    const struct zipf z = {e->zipf, integral(e->zipf, 1.5) - 1, integral(e->zipf, (double)each + 0.5), (double)each};
    struct random random = {random_mix((uint64_t)e->seed)};
    uint64_t spread = RANDOM_STEP % each | 1;
    while (divisor(each, spread) > 1)
        spread += 2;
    for (size_t i = 0; i < n; i++) {
        const uint64_t place = e->zipf > 0 ? draw(&z, &random) - 1 : random_next(&random) % each;
        rows[i] = (uint64_t)((unsigned __int128)place * spread % each);
    }
}

static int find_rows(struct embedding *e, struct gather_given *given, struct err *err)
{
    enum { ROWS = 1 << 20 };
    const uint64_t tables = (uint64_t)e->tables;
    if (e->indices) {
        struct gather_lookups in = {.table_rows = (uint64_t)e->rows};
        const int rc = gather_read_rows(e->indices, e->row_bytes, &in, err);
        given->rows = in.rows;
        given->n = in.n;
        e->rows = (int64_t)in.table_rows;
        if (rc < 0 || (rc && tables > 1))
            return rc < 0 ? -1
                          : err_set(err, "%s: a recording is of one table; tables is %llu", e->indices,
                                    (unsigned long long)tables);
    } else {
        e->rows = e->rows ? e->rows : ROWS;
        given->n = (size_t)e->lookups;
        if (!(given->rows = mem_zalloc(given->n, sizeof *given->rows, err)))
            return -1;
        draw_rows(e, given->rows, given->n);
    }
    if ((uint64_t)e->rows > (1ULL << 40) / tables)
        return err_set(err, "%lld tables of %lld rows; expected at most 2^40 rows in all", (long long)e->tables,
                       (long long)e->rows);
    given->table_rows = (uint64_t)e->rows * tables;
    for (size_t i = 0; i < given->n; i++)
        given->rows[i] += i % tables * (uint64_t)e->rows;
    return 0;
}

static void *embedding_open(const void *keys, struct err *err)
{
    struct embedding e = *(const struct embedding *)keys;
    struct gather_given given = {.row_bytes = e.row_bytes,
                                 .element = GATHER_ELEMENT,
                                 .batches = (uint64_t)e.batches,
                                 .reuse = e.reuse,
                                 .sorted = e.order,
                                 .recorded = e.recorded};
    if (find_rows(&e, &given, err) == 0)
        return gather_new(&given, err);
    free(given.rows);
    return NULL;
}

WORKLOAD_TYPE(workload_embedding, embedding, "embedding", "rows of embedding tables in host memory looked up",
              "nn.Embedding", embedding_keys, embedding_open, gather_close, GATHER_VIEWS);
