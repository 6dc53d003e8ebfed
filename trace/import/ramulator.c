/* ramulator: request traces of Ramulator 2 and 1, four dialects told apart by the first line:
 *   LD 0x12345680 | ST 4096              load/store trace: addresses
 *   R 0,0,1,2,77,5 | W ...               read/write trace: address vectors, in the order of option `levels`
 *   0x12345680 R | 305419904 W           Ramulator 1
 *   3 20734016 | 8 20841280 20841344     instructions without memory before it, address read, address written back
 * No times; how many instructions lie between requests is not kept. A line of another dialect than the first is an item
 * left out, as are comments, which Ramulator 2 refuses. */
#include <stdio.h>
#include <string.h>

#include "trace/base/param.h"
#include "trace/event/dram_map.h"
#include "trace/import/dram_requests.h"
#include "trace/import/reader.h"

enum dialect { DIALECT_NONE, LOAD_STORE, READ_WRITE, RAMULATOR_1, INSTRUCTIONS };
enum level { CHANNEL, RANK, GROUP, BANK, ROW, COLUMN, LEVELS };

struct options {
    int64_t bytes;
    int64_t groups; /* bank groups: bank = bank within the group * groups + group */
    int64_t ranks;  /* ranks or pseudo-channels: channel = channel * ranks + rank */
    const char *levels;
};

static const struct param options[] = {
    PARAM_BYTES_ROW(options, bytes, 1, 128, 64, "bytes of one request; the format does not say"),
    PARAM_INT_ROW(options, groups, "", 1, 256, 4, "bank groups of an address vector"),
    PARAM_INT_ROW(options, ranks, "", 1, 256, 2, "ranks or pseudo-channels of an address vector"),
    PARAM_TEXT_ROW(options, levels, "channel/rank/group/bank/row/column",
                   "order of an address vector; pseudochannel and bankgroup are other names of rank and group"),
    {0}};

/* Options and what follows from them. */
struct state {
    struct reader_context *context;
    struct options o;
    enum level order[LEVELS];
    int levels;
    enum dialect dialect;
    uint64_t back; /* the address that the last line writes back, */
    bool writes;   /* if it does */
};

static int parse_levels(struct state *s, struct err *err)
{
    static const struct {
        const char *name;
        enum level level;
    } names[] = {{"channel", CHANNEL}, {"rank", RANK}, {"pseudochannel", RANK}, {"group", GROUP}, {"bankgroup", GROUP},
                 {"bank", BANK},       {"row", ROW},   {"column", COLUMN}};
    unsigned seen = 0;
    for (const char *p = s->o.levels; *p;) {
        const size_t n = strcspn(p, "/");
        size_t i = 0;
        while (i < sizeof names / sizeof *names && (strlen(names[i].name) != n || strncmp(names[i].name, p, n) != 0))
            i++;
        if (i == sizeof names / sizeof *names || seen >> names[i].level & 1)
            return err_set(
                err, "levels: '%.*s' is unknown or stands twice; expected channel, rank, group, bank, row, column",
                (int)n, p);
        seen |= 1u << names[i].level;
        s->order[s->levels++] = names[i].level;
        p += n + (p[n] == '/');
    }
    if (!(seen >> BANK & 1) || !(seen >> ROW & 1))
        return err_set(err, "levels: '%.100s' lacks bank or row", s->o.levels);
    return 0;
}

static const char *parse_vector(const struct state *s, char *text, struct record *r)
{
    char *words[DRAM_WORDS + 1];
    uint64_t at[LEVELS] = {0};
    static const uint64_t most[LEVELS] = {255, 255, 255, 255, DRAM_ADDR_ROWS - 1, DRAM_ADDR_COLUMNS - 1};
    if (dram_words(text, ',', words) != s->levels)
        return "the address vector has not as many numbers as levels";
    for (int i = 0; i < s->levels; i++)
        if (!dram_decimal(words[i], most[s->order[i]], &at[s->order[i]]))
            return "a number of the address vector is no number or too large";
    if (at[GROUP] >= (uint64_t)s->o.groups || at[RANK] >= (uint64_t)s->o.ranks)
        return "the bank group or rank is not below option groups or ranks";
    const uint64_t bank = at[BANK] * (uint64_t)s->o.groups + at[GROUP];
    if (bank >= DRAM_ADDR_BANKS)
        return "the bank is above 255";
    r->addr = dram_addr_pack((struct dram_addr){(uint32_t)(at[CHANNEL] * (uint64_t)s->o.ranks + at[RANK]),
                                                (uint32_t)bank, (uint32_t)at[ROW], (uint32_t)at[COLUMN]});
    return NULL;
}

static const char *parse_instructions(struct state *s, char *line, struct record *r)
{
    char *words[DRAM_WORDS + 1];
    uint64_t bubbles;
    const int n = dram_words(line, ' ', words);
    r->kind = RECORD_DRAM_READ;
    s->writes = n == 3;
    if ((n != 2 && n != 3) || !dram_number(words[0], &bubbles) || !dram_number(words[1], &r->addr) ||
        (n == 3 && !dram_number(words[2], &s->back)))
        return "not two or three numbers: instructions, address read, address written back";
    return NULL;
}

/* Vectors of another number of levels: those that such devices have. */
static void advise(const struct state *s, const char *line)
{
    static const char *const levels[] = {"bank/row", "bank/row/column", "channel/bank/row/column",
                                         "channel/rank/bank/row/column", "channel/rank/group/bank/row/column"};
    int n = 1;
    for (const char *p = line; (p = strchr(p, ',')); p++)
        n++;
    if (n == 1)
        (void)snprintf(s->context->advice, sizeof s->context->advice,
                       "R and W take an address vector (R 0,0,1,2,77,5); flat addresses stand behind LD and ST");
    if (n != s->levels && n >= 2 && n <= LEVELS)
        (void)snprintf(s->context->advice, sizeof s->context->advice,
                       "--set levels=%s names the order of a vector of %d numbers", levels[n - 2], n);
}

static const char *parse(void *ctx, char *line, struct record *r)
{
    struct state *s = ctx;
    char *words[DRAM_WORDS + 1];
    if (!line) {
        r->kind = RECORD_DRAM_WRITE;
        r->addr = s->back;
        return s->writes ? NULL : "";
    }
    if (s->dialect == INSTRUCTIONS)
        return parse_instructions(s, line, r);
    if (dram_words(line, ' ', words) != 2)
        return "not two words";
    const char *first = words[0], *second = words[1];
    if (s->dialect == LOAD_STORE) {
        if (!dram_kind(first, "LD", "ST", r))
            return "unknown operation; expected LD or ST";
        return dram_number(second, &r->addr) && r->addr <= INT64_MAX ? NULL : "the address is not a number below 2^63";
    }
    if (!dram_kind(s->dialect == READ_WRITE ? first : second, "R", "W", r))
        return "unknown operation; expected R or W";
    if (s->dialect == READ_WRITE)
        return parse_vector(s, words[1], r);
    return dram_number(first, &r->addr) ? NULL : "the address is not a number";
}

/* By the first line. */
static enum dialect dialect_of(const char *line)
{
    if (strncmp(line, "LD ", 3) == 0 || strncmp(line, "ST ", 3) == 0)
        return LOAD_STORE;
    if ((line[0] == 'R' || line[0] == 'W') && line[1] == ' ' && line[2] >= '0' && line[2] <= '9' &&
        (strchr(line, ',') || !strpbrk(line + 2, " \t")))
        return READ_WRITE;
    char copy[256], *words[DRAM_WORDS + 1];
    struct record r;
    struct state s;
    (void)snprintf(copy, sizeof copy, "%s", line);
    if (dram_words(copy, ' ', words) == 2 && dram_number(words[0], &s.back) && strchr("RW", *words[1]) && !words[1][1])
        return RAMULATOR_1;
    (void)snprintf(copy, sizeof copy, "%s", line);
    return parse_instructions(&s, copy, &r) ? DIALECT_NONE : INSTRUCTIONS;
}

static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    const char *p = (const char *)head;
    char line[256] = "";
    (void)reader_head_line(&p, p + n, line, sizeof line);
    const enum dialect dialect = dialect_of(line); /* two numbers may be anything, an edge of a graph for one */
    return dialect == INSTRUCTIONS ? PROBE_MAYBE : dialect != DIALECT_NONE ? PROBE_YES : PROBE_NO;
}

static int read(struct reader_context *context, struct input_stream *source, struct err *err)
{
    struct state s = {.context = context};
    char *line;
    size_t length;
    if (context->options)
        s.o = *(const struct options *)context->options;
    else
        param_defaults(options, &s.o);
    if (parse_levels(&s, err))
        return -1;
    const int rc = input_stream_line(source, &line, &length, err);
    if (rc <= 0)
        return rc ? -1 : reader_nothing(context, "request", err);
    s.dialect = strlen(line) == length ? dialect_of(line) : DIALECT_NONE;
    if (s.dialect == DIALECT_NONE)
        return err_set(err, "line 1: found '%.80s'; expected 'LD 0xADDR', 'R a,b,c,...', 'ADDR R' or '3 ADDR'", line);
    if (s.dialect == READ_WRITE)
        advise(&s, line);
    if (s.dialect == INSTRUCTIONS)
        reader_note(context,
                    "%s: taken as instructions before a request, its address and one written back "
                    "(Ramulator); how many instructions is not kept",
                    context->path);
    const struct dram_form form = {.packed = s.dialect == READ_WRITE,
                                   .bytes = (uint64_t)s.o.bytes,
                                   .parse = parse,
                                   .ctx = &s,
                                   .two = s.dialect == INSTRUCTIONS,
                                   .first = line};
    return dram_requests_read(context, source, &form, err);
}

const struct reader read_ramulator = {
    .name = "ramulator",
    .summary = "Ramulator 2 load/store, read/write and instruction traces, Ramulator 1 traces",
    .options = options,
    .options_size = sizeof(struct options),
    .fills = FACT(SKIPPED) | FACT(LAYOUT) | FACT(BYTES) | FACT(IDS),
    .probe = probe,
    .read = read,
};
