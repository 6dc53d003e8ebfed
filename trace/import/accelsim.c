/* accelsim: NVBit traces as Accel-Sim uses them: a kernelslist with its kernel traces, a folder that holds one (or one
 * for each context: kernelslist_ctx_*), or a single kernel's .trace or .traceg; each may be compressed. Tracer versions
 * 0 to 6, raw and grouped by thread block. Option kernel chooses kernels by id or name. Names with a slash are not
 * followed.
 *
 * Global accesses become ACCESS records of stream "accesses" (trace/program/access.h), one launch per kernel trace, in
 * the order of the files: kernel, block, warp, instruction. Copies to the device become COPY records and rows of table
 * allocations. There is no time. Left out and counted: shared, local, constant and texture accesses (local addresses in
 * these traces are the same for every thread, so nothing can be said of their lines), copies of other directions, list
 * lines of other kinds, instruction lines that cannot be read. Counted as dropped: thread blocks and kernel traces that
 * are missing or empty. origin accesses.outside_known_memory: lanes' addresses in none of the copies' memory. A trace
 * that ends inside a block, or a list whose files are missing, gives an incomplete trace. Source: accel-sim-framework
 * (trace-parser.cc, tracer_tool.cu, post-traces-processing.cpp), versions 3, 5 and 6. */
#include <glob.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/range_map.h"
#include "trace/import/accelsim.h"
#include "trace/import/field.h"
#include "trace/import/reader.h"
#include "trace/program/access.h"

enum { PATH_BYTES = 4096 };

struct options {
    const char *kernel;
};

static const struct param options[] = {
    PARAM_TEXT_ROW(options, kernel, NULL, "only these kernels: a kernel id, or a regular expression for the name"),
    {0}};

/* --- one instruction line, as the NVBit tracer writes it, versions 0 to 6 ---
 *
 *     [tbx tby tbz warp [sm warp_sm]] [source line] PC mask nd R.. OPCODE ns R.. W [mode addresses] [imm ..]
 *
 * Four (or six) leading numbers where a line says whose it is (raw traces, and grouped ones before version 3); the
 * source line with lineinfo. PC and mask are hexadecimal. W 0: no memory operand. Modes: 0 an address per active lane;
 * 1 base and stride; 2 base, then one delta per further active lane; 3 and 4 (version 6, bulk copies): barrier,
 * multicast flag, [multicast mask], bytes, bytes out of bounds, a count, then addresses, or base and deltas.
 * What follows the addresses is not read. The width comes from the opcode (W is wrong in old traces).
 * Source: accel-sim-framework, tracer_nvbit versions 3 (release, 2260456), 5 (dev) and 6; its readme of the formats. */

/* What the header of a trace says about its lines. */
struct header {
    int64_t version; /* tracer; 0 if not said */
    bool lineinfo;
    bool owner;                       /* lines start with block and warp */
    bool core;                        /* and go on with multiprocessor and its warp */
    uint64_t shared_base, local_base; /* 0: not said */
    uint32_t grid[3], block[3];
};

enum space { SPACE_NONE, SPACE_GLOBAL, SPACE_LOCAL, SPACE_SHARED, SPACE_CONSTANT, SPACE_TEXTURE, SPACES };

enum { ADDRESSES = 32 };

struct op {
    uint32_t block[3], warp; /* with header.owner */
    uint64_t pc;
    uint32_t mask;
    enum space space; /* SPACE_NONE: touches no memory, the fields below are not set */
    uint32_t access;  /* enum record_access */
    uint32_t bytes;   /* per address; of a bulk copy its share */
    int lanes;        /* addresses; 0: no lane was active */
    bool async;       /* LDGSTS: written as two lines, shared destination and global source */
    uint64_t addrs[ADDRESSES];
};

/* The window of shared and of local memory in the generic address space. Source: NVBit tracer, which records only the
 * bases; windows of 16 MiB since Volta (CUDA binary utilities, generic addressing). */
enum { WINDOW = 1 << 24, MAX_REGISTERS = 64 };

struct word {
    const char *text;
    size_t length;
};

static bool next_word(const char **p, struct word *w)
{
    const char *s = *p;
    while (*s == ' ' || *s == '\t')
        s++;
    w->text = s;
    while (*s && *s != ' ' && *s != '\t')
        s++;
    w->length = (size_t)(s - w->text);
    *p = s;
    return w->length > 0;
}

static bool next_int(const char **p, int64_t *value)
{
    const char *s = *p;
    while (*s == ' ' || *s == '\t')
        s++;
    bool minus = *s == '-';
    s += minus;
    uint64_t v = 0;
    int n = 0;
    for (; *s >= '0' && *s <= '9'; s++, n++) {
        if (v > (uint64_t)INT64_MAX / 10)
            return false;
        v = v * 10 + (uint64_t)(*s - '0');
    }
    if (n == 0 || v > (uint64_t)INT64_MAX || (*s && *s != ' ' && *s != '\t'))
        return false;
    *p = s;
    *value = minus ? -(int64_t)v : (int64_t)v;
    return true;
}

static bool next_count(const char **p, int64_t most, int64_t *value)
{
    return next_int(p, value) && *value >= 0 && *value <= most;
}

static bool is(const struct word *w, const char *name)
{
    return w->length == strlen(name) && memcmp(w->text, name, w->length) == 0;
}

/* The part of a dotted opcode up to the next dot; *rest moves behind it. */
static bool next_part(struct word *rest, struct word *part)
{
    if (rest->length == 0)
        return false;
    const char *dot = memchr(rest->text, '.', rest->length);
    part->text = rest->text;
    part->length = dot ? (size_t)(dot - rest->text) : rest->length;
    size_t used = part->length + (dot != NULL);
    rest->text += used;
    rest->length -= used;
    return true;
}

/* Bytes per lane: the first part that is a number of bits, perhaps after U or S; 4 without one. */
static uint32_t width_of(struct word opcode)
{
    struct word part;
    (void)next_part(&opcode, &part);
    while (next_part(&opcode, &part)) {
        size_t i = part.length > 1 && (part.text[0] == 'U' || part.text[0] == 'S');
        uint32_t bits = 0;
        for (; i < part.length && part.text[i] >= '0' && part.text[i] <= '9' && bits < 10000; i++)
            bits = bits * 10 + (uint32_t)(part.text[i] - '0');
        if (part.length && i == part.length && bits >= 8 && bits <= 256 && bits % 8 == 0)
            return bits / 8;
    }
    return 4;
}

struct opcode {
    const char *name;
    enum space space;
    uint32_t access;
};

static const struct opcode opcodes[] = {
    {"LDG", SPACE_GLOBAL, RECORD_READ},       {"STG", SPACE_GLOBAL, RECORD_WRITE},
    {"LD", SPACE_GLOBAL, RECORD_READ},        {"ST", SPACE_GLOBAL, RECORD_WRITE},
    {"LDGSTS", SPACE_GLOBAL, RECORD_READ},    {"ATOMG", SPACE_GLOBAL, RECORD_ATOMIC},
    {"ATOM", SPACE_GLOBAL, RECORD_ATOMIC},    {"RED", SPACE_GLOBAL, RECORD_ATOMIC},
    {"REDG", SPACE_GLOBAL, RECORD_ATOMIC},    {"LDL", SPACE_LOCAL, RECORD_READ},
    {"STL", SPACE_LOCAL, RECORD_WRITE},       {"LDS", SPACE_SHARED, RECORD_READ},
    {"STS", SPACE_SHARED, RECORD_WRITE},      {"ATOMS", SPACE_SHARED, RECORD_ATOMIC},
    {"LDSM", SPACE_SHARED, RECORD_READ},      {"STSM", SPACE_SHARED, RECORD_WRITE},
    {"LDC", SPACE_CONSTANT, RECORD_READ},     {"LDCU", SPACE_CONSTANT, RECORD_READ},
    {"ULDC", SPACE_CONSTANT, RECORD_READ},    {"TEX", SPACE_TEXTURE, RECORD_READ},
    {"TLD", SPACE_TEXTURE, RECORD_READ},      {"TLD4", SPACE_TEXTURE, RECORD_READ},
    {"SULD", SPACE_TEXTURE, RECORD_READ},     {"SUST", SPACE_TEXTURE, RECORD_WRITE},
    {"UTMALDG", SPACE_GLOBAL, RECORD_READ},   {"UTMASTG", SPACE_GLOBAL, RECORD_WRITE},
    {"UTMAPF", SPACE_GLOBAL, RECORD_READ},    {"UTMAREDG", SPACE_GLOBAL, RECORD_ATOMIC},
    {"UBLKCP", SPACE_GLOBAL, RECORD_READ},    {"UBLKPF", SPACE_GLOBAL, RECORD_READ},
    {"UBLKRED", SPACE_GLOBAL, RECORD_ATOMIC},
};

/* What a word with a memory operand accesses; an opcode of no known kind touches nothing that is kept. */
static void classify(const struct word *opcode, struct op *op)
{
    struct word rest = *opcode, base;
    (void)next_part(&rest, &base);
    op->space = SPACE_NONE;
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (is(&base, opcodes[i].name)) {
            op->space = opcodes[i].space;
            op->access = opcodes[i].access;
            op->async = is(&base, "LDGSTS");
            break;
        }
    op->bytes = width_of(*opcode);
}

bool accelsim_opcode(const char *opcode, size_t n, uint32_t *bytes, uint32_t *access, bool *async)
{
    const struct word word = {opcode, n};
    struct op op = {0};
    classify(&word, &op);
    *bytes = op.bytes;
    *access = op.access;
    *async = op.async;
    return op.space == SPACE_GLOBAL && op.bytes <= ACCESS_MOST_BYTES;
}

/* A generic load or store goes where its address lies. */
static void place_generic(const struct word *opcode, const struct header *h, struct op *op)
{
    struct word rest = *opcode, base;
    (void)next_part(&rest, &base);
    if (op->lanes == 0 || !(is(&base, "LD") || is(&base, "ST") || is(&base, "ATOM") || is(&base, "RED")))
        return;
    if (h->shared_base && op->addrs[0] - h->shared_base < WINDOW)
        op->space = SPACE_SHARED;
    else if (h->local_base && op->addrs[0] - h->local_base < WINDOW)
        op->space = SPACE_LOCAL;
}

static const char *list_all(const char *p, struct op *op, int n)
{
    for (op->lanes = 0; op->lanes < n; op->lanes++)
        if (!field_hex_word(&p, &op->addrs[op->lanes]))
            return "fewer addresses than active lanes";
    return NULL;
}

static const char *base_stride(const char *p, struct op *op, int n)
{
    uint64_t base;
    int64_t stride;
    if (!field_hex_word(&p, &base) || !next_int(&p, &stride))
        return "no base and stride";
    if (op->mask && (op->mask >> __builtin_ctz(op->mask)) + 1ull != 1ull << n)
        return "base and stride with a gap between active lanes";
    for (op->lanes = 0; op->lanes < n; op->lanes++)
        op->addrs[op->lanes] = base + (uint64_t)stride * (uint64_t)op->lanes;
    return NULL;
}

static const char *base_delta(const char *p, struct op *op, int n)
{
    uint64_t addr;
    int64_t delta;
    if (!field_hex_word(&p, &addr))
        return "no base address";
    for (op->lanes = 0; op->lanes < n; op->lanes++) {
        if (op->lanes > 0) {
            if (!next_int(&p, &delta))
                return "fewer deltas than active lanes";
            addr += (uint64_t)delta;
        }
        op->addrs[op->lanes] = addr;
    }
    return NULL;
}

static const char *bulk(const char *p, struct op *op, bool deltas)
{
    uint64_t barrier, mask;
    int64_t multicast, bytes, outside, n;
    if (!field_hex_word(&p, &barrier) || !next_count(&p, 1, &multicast) || (multicast && !field_hex_word(&p, &mask)) ||
        !next_count(&p, 1 << 24, &bytes) || !next_count(&p, 1 << 24, &outside))
        return "no barrier, multicast flag and byte counts of a bulk copy";
    uint64_t first = 0;
    if (deltas && !field_hex_word(&p, &first))
        return "no base address of a bulk copy";
    if (!next_count(&p, ADDRESSES, &n))
        return "no address count of a bulk copy, or more than 32 addresses";
    const char *wrong = NULL;
    op->lanes = 0;
    if (n > 0 && !deltas) {
        wrong = list_all(p, op, (int)n);
    } else if (n > 0) {
        int64_t delta;
        for (op->addrs[op->lanes++] = first; op->lanes < n; op->lanes++) {
            if (!next_int(&p, &delta))
                return "fewer deltas than addresses of a bulk copy";
            op->addrs[op->lanes] = op->addrs[op->lanes - 1] + (uint64_t)delta;
        }
    }
    op->bytes = n ? (uint32_t)(bytes / n) : 0;
    if (op->bytes == 0)
        op->lanes = 0;
    return wrong;
}

static const char *parse_addresses(const char *p, struct op *op)
{
    int64_t mode;
    int n = __builtin_popcount(op->mask);
    if (!next_count(&p, 4, &mode))
        return "no address mode 0 to 4";
    op->lanes = 0;
    if (mode >= 3)
        return bulk(p, op, mode == 4);
    if (n == 0)
        return NULL;
    return mode == 0 ? list_all(p, op, n) : mode == 1 ? base_stride(p, op, n) : base_delta(p, op, n);
}

static bool skip_registers(const char **p)
{
    struct word w;
    int64_t n;
    if (!next_count(p, MAX_REGISTERS, &n))
        return false;
    while (n-- > 0)
        if (!next_word(p, &w))
            return false;
    return true;
}

static bool parse_owner(const char **p, const struct header *h, struct op *op)
{
    int64_t v[6] = {0};
    for (int i = 0; i < (h->core ? 6 : 4); i++)
        if (!next_count(p, UINT32_MAX, &v[i]))
            return false;
    for (int i = 0; i < 3; i++)
        op->block[i] = (uint32_t)v[i];
    op->warp = (uint32_t)v[3];
    return true;
}

/* Parse a line (ended by zero, not changed). NULL, or what is wrong with it. */
static const char *parse_line(const char *p, const struct header *h, struct op *op)
{
    struct word opcode;
    uint64_t mask;
    int64_t width, number;
    op->space = SPACE_NONE;
    op->lanes = 0;
    op->async = false;
    if (h->owner && !parse_owner(&p, h, op))
        return "no block and warp numbers";
    if (h->lineinfo && !next_int(&p, &number))
        return "no source line number";
    if (!field_hex_word(&p, &op->pc))
        return "no program counter";
    if (!field_hex_word(&p, &mask) || mask > UINT32_MAX)
        return "no mask of 32 lanes";
    op->mask = (uint32_t)mask;
    if (!skip_registers(&p))
        return "no destination registers";
    if (!next_word(&p, &opcode) || !(opcode.text[0] >= 'A' && opcode.text[0] <= 'Z'))
        return "no opcode";
    if (!skip_registers(&p))
        return "no source registers";
    struct word base = opcode, part;
    (void)next_part(&base, &part);
    if (h->version >= 6 && part.length >= 4 && memcmp(part.text + part.length - 4, "GMMA", 4) == 0 &&
        !next_int(&p, &number))
        return "no flag of a matrix instruction";
    if (!next_count(&p, 1 << 24, &width))
        return "no width";
    if (width == 0)
        return NULL;
    classify(&opcode, op);
    if (op->space == SPACE_NONE)
        return NULL;
    const char *wrong = parse_addresses(p, op);
    if (!wrong)
        place_generic(&opcode, h, op);
    return wrong;
}

/* --- one kernel's trace file: header, thread blocks and warps, into ACCESS records --- */

enum { MEMORIES_MAX = 8192 };

/* Where lanes' addresses lie, and the memory that the list names (row 0; of more than MEMORIES_MAX pieces the
 * rest is not known). */
struct extent {
    struct range_map known;
    bool built, overflown;
    uint64_t lowest, highest, lanes, outside;
};

/* What all kernels of one import share. */
struct import {
    struct reader_context *context;
    struct access_sink sink;
    uint64_t accesses[SPACES]; /* that were left out */
    uint64_t missing_blocks, missing_kernels, empty_kernels, empty_warps, kernels;
    uint64_t unreadable; /* instruction lines */
    int64_t copies;      /* to the device */
    const char *chosen;  /* kernels: an id, or a name's regular expression; NULL: all */
    bool by_id;
    regex_t name;
    uint64_t passed_over; /* kernels not chosen */
    struct extent extent;
};

enum { BULK_LANES = ACCESS_LANES };

struct kernel {
    struct import *import;
    const char *file;
    struct input_stream *source;
    struct header header;
    char name[1024];
    int64_t id; /* -1: not stated */
    uint32_t registers, shared_bytes;
    bool begun, in_block, raw, pending_async, passed_over;
    uint32_t block[3], warp;
    uint64_t left; /* instruction lines of this warp still to come */
    uint64_t blocks;
};

/* --- header --- */

static const char *value_of(const char *line, const char *key)
{
    size_t n = strlen(key);
    if (strncmp(line, key, n) != 0)
        return NULL;
    for (line += n; *line == ' '; line++)
        ;
    if (*line != '=')
        return NULL;
    for (line++; *line == ' '; line++)
        ;
    return line;
}

/* A line "-key = value"; unknown keys are passed over. */
static void take_header(struct kernel *k, const char *line)
{
    const char *v;
    struct header *h = &k->header;
    if ((v = value_of(line, "-kernel name")))
        (void)snprintf(k->name, sizeof k->name, "%s", v);
    else if ((v = value_of(line, "-kernel id")))
        k->id = strtoll(v, NULL, 10);
    else if ((v = value_of(line, "-grid dim")))
        (void)access_dim(v, h->grid);
    else if ((v = value_of(line, "-block dim")))
        (void)access_dim(v, h->block);
    else if ((v = value_of(line, "-shmem base_addr")))
        h->shared_base = strtoull(v, NULL, 16);
    else if ((v = value_of(line, "-shmem")))
        k->shared_bytes = (uint32_t)strtoul(v, NULL, 10);
    else if ((v = value_of(line, "-nregs")))
        k->registers = (uint32_t)strtoul(v, NULL, 10);
    else if ((v = value_of(line, "-local mem base_addr")))
        h->local_base = strtoull(v, NULL, 16);
    else if ((v = value_of(line, "-accelsim tracer version")))
        h->version = strtol(v, NULL, 10);
    else if ((v = value_of(line, "-enable lineinfo")))
        h->lineinfo = strtol(v, NULL, 10) != 0;
}

static bool is_chosen(const struct kernel *k)
{
    const struct import *import = k->import;
    if (!import->chosen)
        return true;
    return import->by_id ? k->id == strtoll(import->chosen, NULL, 10)
                         : regexec(&import->name, k->name, 0, NULL, 0) == 0;
}

/* Where it stands; the name of the input itself is put before it by others. */
static const char *place_of(const struct kernel *k, char *buf, size_t size)
{
    const bool own = strcmp(k->file, k->import->context->path) != 0;
    char place[SOURCE_PLACE];
    (void)snprintf(buf, size, "%s%s%s", own ? k->file : "", own ? " " : "", input_stream_place(k->source, place));
    return buf;
}

/* The header is over: the launch begins, or is passed over. */
static int begin(struct kernel *k, struct err *err)
{
    struct reader_context *c = k->import->context;
    const struct header *h = &k->header;
    char place[400];
    if (!is_chosen(k)) {
        k->import->passed_over++;
        k->passed_over = true;
        return 0;
    }
    if (h->version > 6)
        return err_set(err, "%s: tracer version %lld is newer than 6, the last one known",
                       place_of(k, place, sizeof place), (long long)h->version);
    if (!k->import->extent.built && range_map_build(&k->import->extent.known, err))
        return -1;
    k->import->extent.built = true;
    const struct store_value shape[READER_SHAPE] = {
        STORE_V_INT(h->grid[0]),  STORE_V_INT(h->grid[1]),  STORE_V_INT(h->grid[2]),   STORE_V_INT(h->block[0]),
        STORE_V_INT(h->block[1]), STORE_V_INT(h->block[2]), STORE_V_INT(k->registers), STORE_V_INT(k->shared_bytes)};
    int64_t id;
    k->begun = true;
    k->import->kernels++;
    if (reader_kernel(c, k->name, INT64_MIN, 0, shape, &id, err))
        return -1;
    return access_launch(&k->import->sink, id, err);
}

/* --- instructions --- */

/* A bulk copy's ranges, as accesses of 128 B. */
static int add_bulk(struct kernel *k, const struct op *op, struct access_op access, struct err *err)
{
    uint64_t addrs[BULK_LANES];
    access.addrs = addrs;
    for (int i = 0; i < op->lanes; i++)
        for (uint64_t done = 0; done < op->bytes;) {
            uint64_t rest = op->bytes - done;
            access.bytes = rest < ACCESS_MOST_BYTES ? (uint32_t)rest : ACCESS_MOST_BYTES;
            int n = 0;
            for (; n < BULK_LANES && op->bytes - done >= access.bytes; n++, done += access.bytes)
                addrs[n] = op->addrs[i] + done;
            access.lanes = n;
            if (access_add(&k->import->sink, &access, err))
                return -1;
        }
    return 0;
}

/* --- where accesses lie --- */

static int extent_add(struct extent *x, uint64_t addr, uint64_t bytes, struct err *err)
{
    if (x->known.count >= MEMORIES_MAX) {
        x->overflown = true;
        return 0;
    }
    x->built = false;
    return range_map_add(&x->known, (int64_t)addr, (int64_t)(addr + bytes), 0, err);
}

static void note_addresses(struct extent *x, const struct op *op)
{
    for (int i = 0; i < op->lanes; i++) {
        uint64_t addr = op->addrs[i];
        x->lowest = x->lanes == 0 || addr < x->lowest ? addr : x->lowest;
        x->highest = addr > x->highest ? addr : x->highest;
        x->outside += range_map_find(&x->known, (int64_t)addr) < 0;
        x->lanes++;
    }
}

static int add_global(struct kernel *k, const struct op *op, struct err *err)
{
    note_addresses(&k->import->extent, op);
    const uint32_t *b = k->header.owner ? op->block : k->block, *grid = k->header.grid;
    uint64_t width = grid[0] ? grid[0] : 1, height = grid[1] ? grid[1] : 1;
    struct access_op access = {
        .addrs = op->addrs,
        .lanes = op->lanes,
        .bytes = op->bytes,
        .access = op->access,
        .block = (uint32_t)(b[0] + width * (b[1] + height * b[2])),
        .warp = k->header.owner ? op->warp : k->warp,
        .pc = op->pc,
    };
    return op->bytes > ACCESS_MOST_BYTES ? add_bulk(k, op, access, err) : access_add(&k->import->sink, &access, err);
}

static int take_instruction(struct kernel *k, const char *line, struct err *err)
{
    struct op op;
    const char *wrong = parse_line(line, &k->header, &op);
    if (wrong) {
        char place[400], reason[80];
        (void)snprintf(reason, sizeof reason, "instruction with %s", wrong);
        k->import->unreadable++;
        return reader_skip(k->import->context, reason, place_of(k, place, sizeof place), err);
    }
    if (op.async) { /* the first of two lines names the destination in shared memory */
        k->pending_async = !k->pending_async;
        if (k->pending_async)
            op.space = SPACE_SHARED;
    }
    if (op.space == SPACE_GLOBAL)
        return op.lanes ? add_global(k, &op, err) : 0;
    k->import->accesses[op.space]++;
    return 0;
}

/* --- structure --- */

static int wrong_line(const struct kernel *k, const char *what, struct err *err)
{
    char place[400];
    return err_set(err, "%s: %s", place_of(k, place, sizeof place), what);
}

static int take_mark(struct kernel *k, const char *line, struct err *err)
{
    if (!k->begun && begin(k, err))
        return -1;
    if (k->passed_over)
        return 0;
    if (strncmp(line, "#BEGIN_TB", 9) == 0) {
        if (k->in_block)
            return wrong_line(k, "#BEGIN_TB inside a thread block", err);
        k->in_block = true;
        k->blocks++;
        k->header.owner = k->header.version < 3;
        k->header.core = false;
        memset(k->block, 0, sizeof k->block);
        k->warp = 0;
        k->left = 0;
    } else if (strncmp(line, "#END_TB", 7) == 0) {
        if (!k->in_block)
            return wrong_line(k, "#END_TB outside a thread block", err);
        if (k->left)
            return wrong_line(k, "the thread block ends before the announced instructions of its last warp", err);
        k->in_block = false;
    } else if (strstr(line, "warpid_sm")) {
        k->header.core = true;
    }
    return 0;
}

/* A line "key = value" inside a thread block; false if it is none that is known. */
static bool take_block_line(struct kernel *k, const char *line)
{
    const char *v;
    if ((v = value_of(line, "thread block")) && access_dim(v, k->block))
        return true;
    if ((v = value_of(line, "warp"))) {
        k->warp = (uint32_t)strtoul(v, NULL, 10);
        k->pending_async = false;
    } else if ((v = value_of(line, "insts"))) {
        k->left = strtoull(v, NULL, 10);
        k->import->empty_warps += k->left == 0;
    } else {
        return strncmp(line, "cluster", 7) == 0;
    }
    return true;
}

static int take_line(struct kernel *k, const char *line, struct err *err)
{
    while (*line == ' ' || *line == '\t')
        line++;
    if (*line == 0)
        return 0;
    if (*line == '#')
        return take_mark(k, line, err);
    if (!k->begun) {
        if (*line == '-') {
            take_header(k, line);
            return 0;
        }
        return wrong_line(k, "neither a header line (-key = value) nor the line of # that ends the header", err);
    }
    if (k->in_block && k->left) {
        k->left--;
        return take_instruction(k, line, err);
    }
    if (k->in_block)
        return take_block_line(k, line) ? 0 : wrong_line(k, "neither warp, insts nor #END_TB in a thread block", err);
    if (k->blocks)
        return wrong_line(k, "an instruction outside of all thread blocks", err);
    k->raw = k->header.owner = true; /* not grouped: each line says whose it is */
    return take_instruction(k, line, err);
}

static int finish(struct kernel *k, struct err *err)
{
    if (!k->begun && input_stream_line_number(k->source) == 0) {
        k->import->empty_kernels++;
        reader_incomplete(k->import->context, "%s is empty", k->file);
        return 0;
    }
    if (!k->begun && !k->passed_over && begin(k, err))
        return -1;
    if (k->passed_over)
        return 0;
    const uint32_t *g = k->header.grid;
    uint64_t all = (uint64_t)g[0] * g[1];
    if (all && g[2] && !__builtin_mul_overflow(all, (uint64_t)g[2], &all) && !k->raw && all > k->blocks)
        k->import->missing_blocks += all - k->blocks;
    if (k->in_block)
        reader_incomplete(k->import->context, "%s ends inside a thread block, at line %llu", k->file,
                          (unsigned long long)input_stream_line_number(k->source));
    return access_launch_end(&k->import->sink, err);
}

/* Read one kernel trace called `name` (for messages) to its end. */
static int read_kernel(struct import *import, const char *name, struct input_stream *source, struct err *err)
{
    struct kernel *k = mem_zalloc(1, sizeof *k, err);
    if (!k)
        return -1;
    k->import = import;
    k->file = name;
    k->source = source;
    (void)snprintf(k->name, sizeof k->name, "?");
    char *line;
    size_t length;
    int rc = 0;
    k->id = -1;
    while (!k->passed_over && (rc = input_stream_line(source, &line, &length, err)) == 1)
        if ((rc = take_line(k, line, err)))
            break;
    if (rc == 0)
        rc = finish(k, err);
    free(k);
    return rc < 0 ? -1 : 0;
}

/* --- what a line of a kernelslist is --- */

static const char *const endings[] = {"", ".xz", ".gz", ".zst"};

static bool is_copy(const char *line, const char *end)
{
    return (size_t)(end - line) > 6 && memcmp(line, "Memcpy", 6) == 0;
}

static bool is_kernel(const char *line, const char *end)
{
    size_t n = (size_t)(end - line);
    return n > 7 && memcmp(line, "kernel-", 7) == 0 && memmem(line, n, ".trace", 6) != NULL;
}

/* The lists of a folder: kernelslist.g, else kernelslist, else those of every context; compressed or not. Released by
 * globfree() whatever it returns: how many there are. */
static size_t find_lists(const char *folder, glob_t *found)
{
    static const char *const names[] = {"kernelslist.g", "kernelslist", "kernelslist_ctx_*.g", "kernelslist_ctx_*"};
    char pattern[PATH_BYTES * 2];
    memset(found, 0, sizeof *found);
    for (size_t i = 0; i < sizeof names / sizeof *names && !found->gl_pathc; i++)
        for (size_t e = 0; e < sizeof endings / sizeof *endings && !found->gl_pathc; e++) {
            size_t n = 0;
            for (const char *p = folder; *p && n + 64 < sizeof pattern; p++) {
                if (strchr("*?[\\", *p))
                    pattern[n++] = '\\';
                pattern[n++] = *p;
            }
            (void)snprintf(pattern + n, sizeof pattern - n, "/%s%s", names[i], endings[e]);
            globfree(found);
            (void)glob(pattern, 0, NULL, found);
        }
    return found->gl_pathc;
}

static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        glob_t lists;
        size_t count = find_lists(path, &lists);
        globfree(&lists);
        return count ? PROBE_YES : PROBE_NO;
    }
    if (n == 0)
        return PROBE_NO;
    const char *p = (const char *)head, *end = p + n;
    while (p < end && (*p == '\n' || *p == '\r' || *p == ' '))
        p++;
    const char *eol = memchr(p, '\n', (size_t)(end - p));
    if (!eol)
        eol = end;
    if ((size_t)(eol - p) >= 12 && memcmp(p, "-kernel name", 12) == 0)
        return PROBE_YES;
    return is_copy(p, eol) || is_kernel(p, eol) ? PROBE_YES : PROBE_NO;
}

/* --- list --- */

/* Open a file of the set by its name in the list, or compressed beside it. */
static struct input_stream *open_listed(const char *folder, const char *name, char *path, struct err *err)
{
    struct stat st;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if ((size_t)snprintf(path, PATH_BYTES, "%s%s%s", folder, name, endings[i]) >= PATH_BYTES)
            break;
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) /* a pipe would wait for its writer */
            return input_stream_open(path, err);
    }
    err_set(err, "%s%s, also with .xz, .gz, .zst: No such file", folder, name);
    return NULL;
}

static int take_kernel(struct import *import, const char *folder, const char *name, struct err *err)
{
    char path[PATH_BYTES];
    struct err missing = {""};
    size_t n = strlen(name);
    if (strchr(name, '/'))
        return reader_skip(import->context, "kernel trace outside of the list's folder", name, err);
    if (n > 7 && strcmp(name + n - 7, ".tracez") == 0)
        return err_set(err, "%s is in the post-processor's binary form: run it again with --text", name);
    struct input_stream *source = open_listed(folder, name, path, &missing);
    if (!source && import->missing_kernels++ == 0)
        reader_incomplete(import->context, "a kernel trace of the list cannot be opened: %s", missing.msg);
    if (!source)
        return 0;
    int rc = read_kernel(import, path, source, err);
    input_stream_close(source);
    return rc;
}

/* MemcpyHtoD,0x<address>,<bytes>: the structure that the kernels read. */
static int take_copy(struct import *import, const char *line, struct err *err)
{
    char *end;
    const char *p = line + strlen("MemcpyHtoD,");
    uint64_t addr = strtoull(p, &end, 16), bytes = 0;
    bool good = end != p && *end == ',';
    if (good) {
        p = end + 1;
        bytes = strtoull(p, &end, 10);
        good = end != p && *end == 0 && bytes <= INT64_MAX;
    }
    if (!good)
        return reader_skip(import->context, "copy to the device without address and bytes", line, err);
    struct store *store = import->context->store;
    struct record r = {.kind = RECORD_COPY, .addr = addr, .bytes = bytes, .flags = RECORD_COPY_H2D};
    const int64_t extra[ACCESS_EXTRAS] = {import->sink.accesses, 0};
    struct store_value row[7] = {STORE_V_INT((int64_t)import->context->file_index << 20 | import->copies++),
                                 STORE_V_INT(addr), STORE_V_INT(bytes), STORE_V_TEXT("device"), STORE_V_TEXT("copied")};
    if (bytes && (store_row(store, "allocations", row, 7, err) || extent_add(&import->extent, addr, bytes, err)))
        return -1;
    return writer_add(&import->sink.writer, &r, extra, err);
}

/* The place of what is wrong is put in front by the caller. */
static int take_list_line(struct import *import, const char *folder, char *line, size_t length, struct err *err)
{
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        line[--length] = 0;
    if (length == 0)
        return 0;
    if (strncmp(line, "MemcpyHtoD,", 11) == 0)
        return take_copy(import, line, err);
    if (is_kernel(line, line + length))
        return take_kernel(import, folder, line, err);
    return reader_skip(import->context,
                       is_copy(line, line + length) ? "copy that is not to the device" : "list line of another kind",
                       line, err);
}

static int read_list(struct import *import, const char *folder, struct input_stream *source, struct err *err)
{
    char *line;
    size_t length;
    int rc;
    while ((rc = input_stream_line(source, &line, &length, err)) == 1) {
        if (take_list_line(import, folder, line, length, err))
            return err_at(err, "line %llu", (unsigned long long)input_stream_line_number(source));
    }
    return rc;
}

static int read_folder(struct import *import, const char *path, struct err *err)
{
    char folder[PATH_BYTES];
    glob_t lists;
    if ((size_t)snprintf(folder, sizeof folder, "%s/", path) >= sizeof folder)
        return err_set(err, "the path is too long");
    size_t count = find_lists(path, &lists);
    int rc = count ? 0 : err_set(err, "no kernelslist.g, kernelslist or kernelslist_ctx_*");
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct input_stream *source = input_stream_open(lists.gl_pathv[i], err);
        rc = source ? read_list(import, folder, source, err) : -1;
        input_stream_close(source);
        if (rc && count > 1)
            err_at(err, "%s", lists.gl_pathv[i]);
    }
    globfree(&lists);
    return rc;
}

/* --- the reader --- */

/* From where to where the accesses reach, and how many lanes' lie in no memory that the list names. */
static int store_extent(const struct import *import, struct err *err)
{
    const struct extent *x = &import->extent;
    struct store *store = import->context->store;
    char text[100];
    if (!x->lanes)
        return 0;
    (void)snprintf(text, sizeof text, "0x%" PRIx64 " to 0x%" PRIx64, x->lowest, x->highest);
    if (store_origin(store, "accesses.addresses", text, err))
        return -1;
    (void)snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 " (%.1f %%)", x->outside, x->lanes,
                   100 * (double)x->outside / (double)x->lanes);
    if (import->copies == 0 || x->overflown)
        (void)snprintf(text, sizeof text, "not known: the source names %s memory",
                       x->overflown ? "too many pieces of" : "no");
    return store_origin(store, "accesses.outside_known_memory", text, err);
}

static int store_counts(struct import *import, struct err *err)
{
    struct store *store = import->context->store;
    const struct {
        const char *reason;
        uint64_t n;
        bool dropped;
    } counts[] = {{"kernel trace missing", import->missing_kernels, true},
                  {"kernel trace empty", import->empty_kernels, true},
                  {"thread block not in the trace", import->missing_blocks, true},
                  {"shared memory access", import->accesses[SPACE_SHARED], false},
                  {"local memory access", import->accesses[SPACE_LOCAL], false},
                  {"constant memory access", import->accesses[SPACE_CONSTANT], false},
                  {"texture access", import->accesses[SPACE_TEXTURE], false},
                  {"warp without instructions", import->empty_warps, false}};
    if (import->missing_blocks && import->context->strict)
        reader_incomplete(import->context, "%" PRIu64 " thread blocks are not in their traces", import->missing_blocks);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const uint64_t n = counts[i].n;
        import->context->skips.total += counts[i].dropped ? 0 : n;
        if (n && (counts[i].dropped ? store_drop : store_skip)(store, counts[i].reason, n, err))
            return -1;
    }
    return store_origin(store, "access_order", "kernel, block, warp, instruction", err) || store_extent(import, err)
               ? -1
               : 0;
}

static int read_by_content(struct import *import, struct input_stream *source, struct err *err)
{
    struct reader_context *c = import->context;
    struct stat st;
    if (!source || (stat(c->path, &st) == 0 && S_ISDIR(st.st_mode)))
        return read_folder(import, c->path, err);
    const unsigned char *head;
    size_t got;
    if (input_stream_peek(source, READER_PROBE_BYTES, &head, &got, err))
        return -1;
    for (size_t i = 0; i < got; i++) {
        if (head[i] == '-')
            return read_kernel(import, c->path, source, err);
        if (head[i] > ' ')
            break;
    }
    char folder[PATH_BYTES] = "";
    const char *slash = strrchr(c->path, '/');
    if (slash && (size_t)(slash - c->path) + 2 <= sizeof folder) {
        memcpy(folder, c->path, (size_t)(slash - c->path) + 1);
        folder[slash - c->path + 1] = 0;
    }
    return read_list(import, folder, source, err);
}

static int choose_kernels(struct import *import, struct err *err)
{
    const struct options *o = import->context->options;
    if (!o || !o->kernel)
        return 0;
    import->chosen = o->kernel;
    import->by_id = o->kernel[0] && strspn(o->kernel, "0123456789") == strlen(o->kernel);
    int wrong = import->by_id ? 0 : regcomp(&import->name, o->kernel, REG_EXTENDED | REG_NOSUB);
    char why[100];
    if (wrong) {
        (void)regerror(wrong, &import->name, why, sizeof why);
        import->chosen = NULL; /* nothing to free */
        return err_set(err, "kernel=%s: neither a number nor a regular expression: %s", o->kernel, why);
    }
    return store_origin(import->context->store, "kernels.chosen", o->kernel, err);
}

static int read_set(struct reader_context *context, struct input_stream *source, struct err *err)
{
    struct import import = {.context = context};
    if (access_open(&import.sink, context->store, err))
        return -1;
    int rc = choose_kernels(&import, err);
    if (rc == 0)
        rc = read_by_content(&import, source, err);
    if (rc == 0 && import.kernels == 0 && import.passed_over)
        rc = err_set(err, "none of %" PRIu64 " kernels is called %s", import.passed_over, import.chosen);
    else if (rc == 0 && import.kernels == 0 && !context->incomplete[0])
        rc = err_set(err, "no kernel trace in it");
    if (rc == 0 && import.unreadable && import.extent.lanes == 0)
        rc = err_set(err, "no access in it, and %" PRIu64 " instruction lines that cannot be read: of another tracer?",
                     import.unreadable);
    /* What was read before an error is kept: the trace stays incomplete. */
    if (access_flush(&import.sink, rc ? NULL : err) || store_counts(&import, rc ? NULL : err))
        rc = -1;
    access_close(&import.sink);
    if (import.chosen && !import.by_id)
        regfree(&import.name);
    range_map_release(&import.extent.known);
    return rc;
}

const struct reader read_accelsim = {
    .name = "accelsim",
    .summary = "Accel-Sim (NVBit) kernel traces: a kernelslist, its folder, or one .trace or .traceg",
    .options = options,
    .options_size = sizeof(struct options),
    .probe = probe,
    .read = read_set,
};
