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

enum level { CHANNEL, RANK, GROUP, BANK, ROW, COLUMN, LEVELS };

struct options {
    int64_t bytes, groups, ranks; /* bank = bank in its group * groups + group; channel = channel * ranks + rank */
    const char *levels;
};

static const struct param options[] = {
    PARAM_BYTES_ROW(options, bytes, 1, 128, 64, "bytes of one request; the format does not say"),
    PARAM_INT_ROW(options, groups, "", 1, 256, 4, "bank groups of an address vector"),
    PARAM_INT_ROW(options, ranks, "", 1, 256, 2, "ranks or pseudo-channels of an address vector"),
    PARAM_TEXT_ROW(options, levels, "channel/rank/group/bank/row/column",
                   "order of an address vector; pseudochannel and bankgroup are other names of rank and group"),
    {0}};

struct state;

/* A dialect: NULL, or why a line of n words is left out; `other` if it is none of this dialect. */
typedef const char *dialect(struct state *s, char **words, int n, struct record *r);
static const char other[] = "not in the form of the first line: LD or ST, R or W, or numbers";

/* Options and what follows from them. */
struct state {
    struct options o;
    enum level order[LEVELS];
    int levels;
    dialect *dialect;
    uint64_t back; /* the address that the last line writes back, */
    bool writes;   /* if it does */
};

static int parse_levels(struct state *s, struct err *err)
{
    static const char *const names[2][LEVELS] = {{"channel", "rank", "group", "bank", "row", "column"},
                                                 {"channel", "pseudochannel", "bankgroup", "bank", "row", "column"}};
    char text[128], *words[DRAM_WORDS + 1];
    unsigned seen = 0;
    (void)snprintf(text, sizeof text, "%s", s->o.levels);
    s->levels = dram_words(text, '/', words);
    for (int i = 0; i < s->levels; i++) {
        int at = LEVELS - 1;
        while (at >= 0 && strcmp(names[0][at], words[i]) != 0 && strcmp(names[1][at], words[i]) != 0)
            at--;
        if (at < 0 || seen >> at & 1)
            return err_set(err, "levels: '%s' is unknown or twice; expected channel, rank, group, bank, row, column",
                           words[i]);
        seen |= 1u << at;
        s->order[i] = (enum level)at;
    }
    return seen >> BANK & seen >> ROW & 1 ? 0 : err_set(err, "levels: '%.100s' lacks bank or row", s->o.levels);
}

static const char *read_write(struct state *s, char **words, int n, struct record *r)
{
    char *numbers[DRAM_WORDS + 1];
    uint64_t at[LEVELS] = {0};
    const uint64_t groups = (uint64_t)s->o.groups, ranks = (uint64_t)s->o.ranks;
    const uint64_t most[LEVELS] = {255, ranks - 1, groups - 1, 255, DRAM_ADDR_ROWS - 1, DRAM_ADDR_COLUMNS - 1};
    if (n != 2 || !dram_kind(words[0], "R", "W", r) || *words[1] < '0' || *words[1] > '9')
        return other;
    if (dram_words(words[1], ',', numbers) != s->levels)
        return "the address vector has not as many numbers as levels";
    for (int i = 0; i < s->levels; i++)
        if (!dram_decimal(numbers[i], most[s->order[i]], &at[s->order[i]]))
            return "a number of the address vector is none or too large (options groups, ranks)";
    if (at[BANK] * groups + at[GROUP] >= DRAM_ADDR_BANKS)
        return "the bank is above 255";
    r->addr = dram_addr_pack((struct dram_addr){(uint32_t)(at[CHANNEL] * ranks + at[RANK]),
                                                (uint32_t)(at[BANK] * groups + at[GROUP]), (uint32_t)at[ROW],
                                                (uint32_t)at[COLUMN]});
    return NULL;
}

static const char *load_store(struct state *s, char **words, int n, struct record *r)
{
    (void)s;
    if (n != 2 || !dram_kind(words[0], "LD", "ST", r))
        return other;
    return dram_number(words[1], &r->addr) && r->addr <= INT64_MAX ? NULL : "the address is not a number below 2^63";
}

static const char *ramulator_1(struct state *s, char **words, int n, struct record *r)
{
    (void)s;
    return n == 2 && dram_number(words[0], &r->addr) && dram_kind(words[1], "R", "W", r) ? NULL : other;
}

static const char *instructions(struct state *s, char **words, int n, struct record *r)
{
    uint64_t bubbles;
    r->kind = RECORD_DRAM_READ;
    s->writes = n == 3;
    return (n == 2 || n == 3) && dram_number(words[0], &bubbles) && dram_number(words[1], &r->addr) &&
                   (n == 2 || dram_number(words[2], &s->back))
               ? NULL
               : other;
}

/* Of a line, which is kept; NULL: none. */
static dialect *dialect_of(const char *line)
{
    static dialect *const all[] = {load_store, read_write, ramulator_1, instructions};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char copy[256], *words[DRAM_WORDS + 1];
        struct record r;
        struct state s = {0};
        (void)snprintf(copy, sizeof copy, "%s", line);
        if (all[i](&s, words, dram_words(copy, ' ', words), &r) != other)
            return all[i];
    }
    return NULL;
}

static const char *parse(void *ctx, char *line, struct record *r)
{
    struct state *s = ctx;
    char *words[DRAM_WORDS + 1];
    if (line)
        return s->dialect(s, words, dram_words(line, ' ', words), r);
    r->kind = RECORD_DRAM_WRITE;
    r->addr = s->back;
    return s->writes ? NULL : "";
}

/* Vectors of another number of levels: those that such devices have. */
static void advise(struct reader_context *context, const struct state *s, const char *line)
{
    static const char *const levels[] = {"bank/row", "bank/row/column", "channel/bank/row/column",
                                         "channel/rank/bank/row/column", "channel/rank/group/bank/row/column"};
    int n = 1;
    for (const char *p = line; (p = strchr(p, ',')); p++)
        n++;
    if (n == 1)
        (void)snprintf(context->advice, sizeof context->advice,
                       "R and W take an address vector (R 0,0,1,2,77,5); flat addresses stand behind LD and ST");
    else if (n != s->levels && n <= LEVELS)
        (void)snprintf(context->advice, sizeof context->advice,
                       "--set levels=%s names the order of a vector of %d numbers", levels[n - 2], n);
}

static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    const char *p = (const char *)head;
    char line[256] = "";
    (void)reader_head_line(&p, p + n, line, sizeof line);
    dialect *d = dialect_of(line); /* two numbers may be anything, an edge of a graph for one */
    return d == instructions ? PROBE_MAYBE : d ? PROBE_YES : PROBE_NO;
}

static int read(struct reader_context *context, struct input_stream *source, struct err *err)
{
    struct state s = {.o = *(const struct options *)context->options};
    char *line;
    size_t length;
    if (parse_levels(&s, err))
        return -1;
    const int rc = input_stream_line(source, &line, &length, err);
    if (rc <= 0)
        return rc ? -1 : reader_nothing(context, "request", err);
    s.dialect = strlen(line) == length ? dialect_of(line) : NULL;
    if (!s.dialect)
        return err_set(err, "line 1: found '%.80s'; expected 'LD 0xADDR', 'R a,b,c,...', 'ADDR R' or '3 ADDR'", line);
    const bool vectors = s.dialect == read_write, counted = s.dialect == instructions;
    if (vectors)
        advise(context, &s, line);
    if (counted)
        reader_note(context,
                    "%s: taken as instructions before a request, its address and one written back (Ramulator); how "
                    "many instructions is not kept",
                    context->path);
    const struct dram_form form = {
        .packed = vectors, .bytes = (uint64_t)s.o.bytes, .parse = parse, .ctx = &s, .two = counted, .first = line};
    return dram_requests_read(context, source, &form, err);
}

const struct reader read_ramulator = {
    .name = "ramulator",
    .summary = "Ramulator 2 load/store, read/write and instruction traces, Ramulator 1 traces",
    .options = options,
    .options_size = sizeof(struct options),
    .probe = probe,
    .read = read,
};
