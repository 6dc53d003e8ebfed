#include "models/base/platform_draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/base/platform_type.h"
#include "trace/base/param.h"
#include "trace/base/random.h"

/* A range wider than this is drawn evenly in its logarithm. */
static const double log_above = 4;

/* --- axes --- */

static bool number_axis(const struct platform_part *part, size_t row, struct platform_axis *axis)
{
    const struct platform_number *n = &part->numbers[row];
    const struct param *param = &part->section->params[row];
    if (n->kind == PLATFORM_SOURCED || n->moves || n->low == n->high || param->type == PARAM_TEXT)
        return false;
    *axis =
        (struct platform_axis){part->section->name, param, n->kind, n->low, n->high, param_number(param, part->values)};
    return true;
}

static bool factor_axis(const struct platform_part *part, struct platform_axis *axis)
{
    const struct platform_borrowed *b = &part->borrowed;
    if (!b->as || b->low == b->high)
        return false;
    *axis = (struct platform_axis){part->section->name, NULL, PLATFORM_AS, b->low, b->high, 1};
    return true;
}

bool platform_axis(const struct platform *platform, size_t i, struct platform_axis *axis)
{
    for (size_t s = 0; s < platform->part_count; s++) {
        const struct platform_part *part = &platform->parts[s];
        if (factor_axis(part, axis) && i-- == 0)
            return true;
        for (size_t row = 0; row < part->count; row++)
            if (number_axis(part, row, axis) && i-- == 0)
                return true;
    }
    return false;
}

/* --- moving along one --- */

static bool is_choice(const struct platform_axis *axis)
{
    return axis->row && axis->row->type == PARAM_CHOICE;
}

static bool in_log(const struct platform_axis *axis)
{
    return axis->low > 0 && (!axis->row || axis->high / axis->low > log_above);
}

static double between(const struct platform_axis *axis, double share)
{
    double low = axis->low, high = axis->high;
    if (is_choice(axis))
        return fmin(low + floor(share * (high - low + 1)), high);
    if (share >= 1)
        return high;
    double value = in_log(axis) ? low * pow(high / low, share) : low + share * (high - low);
    return fmin(fmax(value, low), high);
}

const char *platform_axis_name(const struct platform_axis *axis, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%s.%s", axis->section, axis->row ? axis->row->name : "as");
    return buf;
}

double platform_axis_at(const struct platform_axis *axis, double share)
{
    double value = between(axis, share);
    return axis->row && axis->row->type != PARAM_REAL ? (double)llround(value) : value;
}

double platform_axis_share(const struct platform_axis *axis, double value)
{
    double low = axis->low, high = axis->high;
    if (is_choice(axis))
        return (value - low + 0.5) / (high - low + 1);
    return in_log(axis) ? log(value / low) / log(high / low) : (value - low) / (high - low);
}

static void put(struct platform_part *part, size_t row, double value)
{
    const struct param *param = &part->section->params[row];
    param_put_number(param, part->values, value);
    part->numbers[row].low = part->numbers[row].high = param_number(param, part->values);
}

/* The factor of a section that is another's: all that moves with it moves. */
static void multiply(struct platform_part *part, double factor)
{
    for (size_t row = 0; row < part->count; row++)
        if (part->numbers[row].moves) {
            const struct param *param = &part->section->params[row];
            put(part, row, platform_times(param, param_number(param, part->values), factor));
        }
    part->borrowed.low = part->borrowed.high = factor;
}

/* A copy has the same axes in the same place: what was moved has no width any more. */
static void move(struct platform *to, const struct platform_axis *axis, double share)
{
    struct platform_part *part = platform_part(to, axis->section);
    double value = between(axis, share);
    if (axis->row)
        put(part, (size_t)(axis->row - part->section->params), value);
    else
        multiply(part, value);
}

struct platform *platform_moved(const struct platform *platform, size_t i, double share, struct err *err)
{
    struct platform_axis axis;
    if (!platform_axis(platform, i, &axis)) {
        err_set(err, "platform %s has no axis %zu", platform->name, i);
        return NULL;
    }
    struct platform *moved = platform_copy(platform, err);
    if (moved)
        move(moved, &axis, share);
    return moved;
}

/* --- draws --- */

static uint64_t name_of(uint64_t seed, const struct platform_axis *axis)
{
    uint64_t h = random_mix(seed);
    for (const char *p = axis->section; *p; p++)
        h = random_mix(h ^ (unsigned char)*p);
    for (const char *p = axis->row ? axis->row->name : "as"; *p; p++)
        h = random_mix(h ^ (unsigned char)*p << 8);
    return h;
}

/* Where `at` lands in an order of 0..n-1 that `key` picks: a Feistel network of four rounds over the next even power of
 * two, walked until it lands below n. */
static uint32_t shuffled(uint32_t at, uint32_t n, uint64_t key)
{
    int half = 1;
    while ((uint64_t)1 << 2 * half < n)
        half++;
    const uint64_t mask = ((uint64_t)1 << half) - 1;
    uint64_t x = at;
    do {
        uint64_t left = x >> half, right = x & mask;
        for (uint64_t round = 0; round < 4; round++) {
            uint64_t next = left ^ (random_mix(key ^ random_mix(round << 32 ^ right)) & mask);
            left = right;
            right = next;
        }
        x = left << half | right;
    } while (x >= n);
    return (uint32_t)x;
}

struct platform *platform_draw(const struct platform *platform, uint64_t seed, uint32_t at, uint32_t draws,
                               struct err *err)
{
    if (at >= draws) {
        err_set(err, "draw %u of %u", at, draws);
        return NULL;
    }
    struct platform *drawn = platform_copy(platform, err);
    struct platform_axis axis;
    for (size_t i = 0; drawn && platform_axis(platform, i, &axis); i++) {
        uint64_t key = name_of(seed, &axis);
        uint32_t stratum = shuffled(at, draws, key);
        double within = (double)(random_mix(key ^ random_mix(at + ((uint64_t)draws << 32))) >> 11) * 0x1p-53;
        move(drawn, &axis, ((double)stratum + within) / draws);
    }
    return drawn;
}
