#include "models/gpu/crossbar.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

int crossbar_init(struct crossbar *x, uint32_t inputs, uint32_t outputs, struct err *err)
{
    memset(x, 0, sizeof *x);
    x->inputs = inputs;
    x->outputs = outputs;
    x->words = (inputs + 63) / 64;
    x->out_words = (outputs + 63) / 64;
    x->heads = mem_zalloc((size_t)outputs * CROSSBAR_CLASSES * x->words, sizeof *x->heads, err);
    x->wanted = mem_zalloc((size_t)CROSSBAR_CLASSES * x->out_words, sizeof *x->wanted, err);
    x->room = mem_zalloc((size_t)CROSSBAR_CLASSES * x->out_words, sizeof *x->room, err);
    x->first = mem_zalloc(outputs, sizeof *x->first, err);
    x->output = mem_zalloc(inputs, sizeof *x->output, err);
    x->class = mem_zalloc(inputs, sizeof *x->class, err);
    if (!x->heads || !x->wanted || !x->room || !x->first || !x->output || !x->class)
        return -1;
    memset(x->room, 0xff, (size_t)CROSSBAR_CLASSES * x->out_words * sizeof *x->room);
    for (uint32_t i = 0; i < inputs; i++)
        x->output[i] = -1;
    return 0;
}

void crossbar_release(struct crossbar *x)
{
    free(x->heads);
    free(x->wanted);
    free(x->room);
    free(x->first);
    free(x->output);
    free(x->class);
    memset(x, 0, sizeof *x);
}

static uint64_t *heads_of(const struct crossbar *x, uint32_t output, uint32_t class)
{
    return &x->heads[((size_t)output * CROSSBAR_CLASSES + class) * x->words];
}

void crossbar_show(struct crossbar *x, uint32_t input, uint32_t output, uint32_t class)
{
    x->output[input] = (int32_t)output;
    x->class[input] = (uint8_t) class;
    heads_of(x, output, class)[input / 64] |= UINT64_C(1) << input % 64;
    x->wanted[class * x->out_words + output / 64] |= UINT64_C(1) << output % 64;
}

int32_t crossbar_next(const struct crossbar *x, uint32_t from)
{
    const uint32_t words = x->out_words;
    uint64_t ahead = ~UINT64_C(0) << from % 64;
    for (uint32_t w = from / 64; w < words; w++, ahead = ~UINT64_C(0)) {
        const uint64_t m = ((x->wanted[w] & x->room[w]) | (x->wanted[words + w] & x->room[words + w])) & ahead;
        if (m)
            return (int32_t)(w * 64 + (uint32_t)__builtin_ctzll(m));
    }
    return -1;
}

/* The inputs of word w whose head the output can take. */
static inline uint64_t candidates(const struct crossbar *x, const uint64_t *heads, unsigned room, uint32_t w)
{
    return (heads[w] & -(uint64_t)(room & 1)) | (heads[x->words + w] & -(uint64_t)(room >> 1));
}

/* The first of them from `first` on, round robin; -1: there is none. */
static int32_t find(const struct crossbar *x, const uint64_t *heads, unsigned room, uint32_t first)
{
    const uint64_t own = candidates(x, heads, room, first / 64), ahead = own & ~UINT64_C(0) << first % 64;
    if (ahead)
        return (int32_t)(first / 64 * 64 + (uint32_t)__builtin_ctzll(ahead));
    for (uint32_t k = 1, w = first / 64; k < x->words; k++) {
        w = w + 1 < x->words ? w + 1 : 0;
        const uint64_t m = candidates(x, heads, room, w);
        if (m)
            return (int32_t)(w * 64 + (uint32_t)__builtin_ctzll(m));
    }
    return own ? (int32_t)(first / 64 * 64 + (uint32_t)__builtin_ctzll(own)) : -1;
}

/* Whether a word of n is not 0. */
static bool any(const uint64_t *words, uint32_t n)
{
    uint64_t all = 0;
    for (uint32_t k = 0; k < n; k++)
        all |= words[k];
    return all != 0;
}

/* The classes that the output has room for, bit 0 and bit 1. */
static unsigned room_of(const struct crossbar *x, uint32_t output)
{
    const uint64_t *room = &x->room[output / 64];
    return (unsigned)(room[0] >> output % 64 & 1) | (unsigned)(room[x->out_words] >> output % 64 & 1) << 1;
}

int32_t crossbar_take(struct crossbar *x, uint32_t output)
{
    const unsigned room = room_of(x, output);
    uint64_t *heads = heads_of(x, output, 0);
    const int32_t input = find(x, heads, room, x->first[output]);
    if (input < 0)
        return -1;
    const uint32_t next = (uint32_t)input + 1, class = x->class[input];
    heads += (size_t) class * x->words;
    x->first[output] = next < x->inputs ? next : 0;
    heads[(uint32_t)input / 64] &= ~(UINT64_C(1) << input % 64);
    x->output[input] = -1;
    if (!any(heads, x->words))
        x->wanted[class * x->out_words + output / 64] &= ~(UINT64_C(1) << output % 64);
    return input;
}

bool crossbar_empty(const struct crossbar *x)
{
    return !any(x->wanted, CROSSBAR_CLASSES * x->out_words);
}
