#include "trace/import/accelsim.h"

#include <string.h>

#include "trace/event/record.h"
#include "trace/import/field.h"

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

static bool next_hex(const char **p, uint64_t *value)
{
    const char *s = *p;
    while (*s == ' ' || *s == '\t')
        s++;
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
        s += 2;
    uint64_t v = 0;
    int n = 0;
    for (;; s++, n++) {
        unsigned d = field_hex_values[(unsigned char)*s];
        if (d > 15)
            break;
        v = v << 4 | d;
    }
    if (n == 0 || n > 16 || (*s && *s != ' ' && *s != '\t'))
        return false;
    *p = s;
    *value = v;
    return true;
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
    enum accelsim_space space;
    uint32_t access;
};

static const struct opcode opcodes[] = {
    {"LDG", ACCELSIM_GLOBAL, RECORD_READ},       {"STG", ACCELSIM_GLOBAL, RECORD_WRITE},
    {"LD", ACCELSIM_GLOBAL, RECORD_READ},        {"ST", ACCELSIM_GLOBAL, RECORD_WRITE},
    {"LDGSTS", ACCELSIM_GLOBAL, RECORD_READ},    {"ATOMG", ACCELSIM_GLOBAL, RECORD_ATOMIC},
    {"ATOM", ACCELSIM_GLOBAL, RECORD_ATOMIC},    {"RED", ACCELSIM_GLOBAL, RECORD_ATOMIC},
    {"REDG", ACCELSIM_GLOBAL, RECORD_ATOMIC},    {"LDL", ACCELSIM_LOCAL, RECORD_READ},
    {"STL", ACCELSIM_LOCAL, RECORD_WRITE},       {"LDS", ACCELSIM_SHARED, RECORD_READ},
    {"STS", ACCELSIM_SHARED, RECORD_WRITE},      {"ATOMS", ACCELSIM_SHARED, RECORD_ATOMIC},
    {"LDSM", ACCELSIM_SHARED, RECORD_READ},      {"STSM", ACCELSIM_SHARED, RECORD_WRITE},
    {"LDC", ACCELSIM_CONSTANT, RECORD_READ},     {"LDCU", ACCELSIM_CONSTANT, RECORD_READ},
    {"ULDC", ACCELSIM_CONSTANT, RECORD_READ},    {"TEX", ACCELSIM_TEXTURE, RECORD_READ},
    {"TLD", ACCELSIM_TEXTURE, RECORD_READ},      {"TLD4", ACCELSIM_TEXTURE, RECORD_READ},
    {"SULD", ACCELSIM_TEXTURE, RECORD_READ},     {"SUST", ACCELSIM_TEXTURE, RECORD_WRITE},
    {"UTMALDG", ACCELSIM_GLOBAL, RECORD_READ},   {"UTMASTG", ACCELSIM_GLOBAL, RECORD_WRITE},
    {"UTMAPF", ACCELSIM_GLOBAL, RECORD_READ},    {"UTMAREDG", ACCELSIM_GLOBAL, RECORD_ATOMIC},
    {"UBLKCP", ACCELSIM_GLOBAL, RECORD_READ},    {"UBLKPF", ACCELSIM_GLOBAL, RECORD_READ},
    {"UBLKRED", ACCELSIM_GLOBAL, RECORD_ATOMIC},
};

/* What a word with a memory operand accesses; an opcode of no known kind touches nothing that is kept. */
static void classify(const struct word *opcode, struct accelsim_op *op)
{
    struct word rest = *opcode, base;
    (void)next_part(&rest, &base);
    op->space = ACCELSIM_NONE;
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (is(&base, opcodes[i].name)) {
            op->space = opcodes[i].space;
            op->access = opcodes[i].access;
            op->async = is(&base, "LDGSTS");
            break;
        }
    op->bytes = width_of(*opcode);
}

/* A generic load or store goes where its address lies. */
static void place(const struct word *opcode, const struct accelsim_header *h, struct accelsim_op *op)
{
    struct word rest = *opcode, base;
    (void)next_part(&rest, &base);
    if (op->lanes == 0 || !(is(&base, "LD") || is(&base, "ST") || is(&base, "ATOM") || is(&base, "RED")))
        return;
    if (h->shared_base && op->addrs[0] - h->shared_base < WINDOW)
        op->space = ACCELSIM_SHARED;
    else if (h->local_base && op->addrs[0] - h->local_base < WINDOW)
        op->space = ACCELSIM_LOCAL;
}

static const char *list_all(const char *p, struct accelsim_op *op, int n)
{
    for (op->lanes = 0; op->lanes < n; op->lanes++)
        if (!next_hex(&p, &op->addrs[op->lanes]))
            return "fewer addresses than active lanes";
    return NULL;
}

static const char *base_stride(const char *p, struct accelsim_op *op, int n)
{
    uint64_t base;
    int64_t stride;
    if (!next_hex(&p, &base) || !next_int(&p, &stride))
        return "no base and stride";
    if (op->mask && (op->mask >> __builtin_ctz(op->mask)) + 1ull != 1ull << n)
        return "base and stride with a gap between active lanes";
    for (op->lanes = 0; op->lanes < n; op->lanes++)
        op->addrs[op->lanes] = base + (uint64_t)stride * (uint64_t)op->lanes;
    return NULL;
}

static const char *base_delta(const char *p, struct accelsim_op *op, int n)
{
    uint64_t addr;
    int64_t delta;
    if (!next_hex(&p, &addr))
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

static const char *bulk(const char *p, struct accelsim_op *op, bool deltas)
{
    uint64_t barrier, mask;
    int64_t multicast, bytes, outside, n;
    if (!next_hex(&p, &barrier) || !next_count(&p, 1, &multicast) || (multicast && !next_hex(&p, &mask)) ||
        !next_count(&p, 1 << 24, &bytes) || !next_count(&p, 1 << 24, &outside))
        return "no barrier, multicast flag and byte counts of a bulk copy";
    uint64_t first = 0;
    if (deltas && !next_hex(&p, &first))
        return "no base address of a bulk copy";
    if (!next_count(&p, ACCELSIM_ADDRESSES, &n))
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

static const char *parse_addresses(const char *p, struct accelsim_op *op)
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

static bool parse_owner(const char **p, const struct accelsim_header *h, struct accelsim_op *op)
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

const char *accelsim_parse(const char *p, const struct accelsim_header *h, struct accelsim_op *op)
{
    struct word opcode;
    uint64_t mask;
    int64_t width, number;
    op->space = ACCELSIM_NONE;
    op->lanes = 0;
    op->async = false;
    if (h->owner && !parse_owner(&p, h, op))
        return "no block and warp numbers";
    if (h->lineinfo && !next_int(&p, &number))
        return "no source line number";
    if (!next_hex(&p, &op->pc))
        return "no program counter";
    if (!next_hex(&p, &mask) || mask > UINT32_MAX)
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
    if (op->space == ACCELSIM_NONE)
        return NULL;
    const char *wrong = parse_addresses(p, op);
    if (!wrong)
        place(&opcode, h, op);
    return wrong;
}
