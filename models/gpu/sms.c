#include "models/gpu/sms.h"

#include <stdlib.h>
#include <string.h>

#include "models/gpu/occupancy.h"
#include "models/gpu/sm.h"
#include "trace/base/mem.h"

struct sms {
    struct sm_shared s;
    const struct gpu *gpu;
    const double *kept;
    int64_t began;                   /* the launch that runs */
    int64_t launch_cycles, begin_at; /* begin_at: of the launch that comes; INT64_MAX: one runs, or none comes */
    uint32_t n, words, launches;
    uint32_t last;               /* multiprocessor that got the last block */
    struct program_launch shape; /* of the launch that runs */
    uint64_t placed;             /* its blocks */
    struct sm *sm;
    uint64_t *due;
    bool opened, done;
};

/* --- its numbers --- */

static int check_gpu(const struct gpu *gpu, uint32_t sms, struct err *err)
{
    if (sms == 0 || sms > (uint64_t)gpu->sms)
        return err_set(err, "%u multiprocessors of a GPU that has %lld", sms, (long long)gpu->sms);
    if (gpu->schedulers > SM_SCHEDULERS || gpu->l1_banks > SM_BANKS || gpu->warps_per_sm > SM_AGES * gpu->schedulers)
        return err_set(err,
                       "%lld schedulers, %lld L1 banks, %lld warps; expected at most %d, %d, %d for each scheduler",
                       (long long)gpu->schedulers, (long long)gpu->l1_banks, (long long)gpu->warps_per_sm,
                       SM_SCHEDULERS, SM_BANKS, SM_AGES);
    return 0;
}

/* Lines of L1 that a launch has. */
static int l1_lines(const struct sms *s, const struct program_launch *l, uint32_t *lines, struct err *err)
{
    uint64_t blocks = occupancy_resident(s->gpu, l, s->n);
    uint64_t shared = l->shared + (uint64_t)s->gpu->block_shared_bytes;
    int64_t bytes = occupancy_l1(s->gpu, blocks * shared, err);
    if (bytes < 0)
        return -1;
    *lines = (uint32_t)(bytes / L1_LINE);
    *lines = *lines < (uint32_t)s->gpu->l1_ways ? 0 : *lines;
    return 0;
}

/* Every launch has room for a block; *most: lines of the largest L1. */
static int check_launches(const struct sms *s, uint32_t *most, struct err *err)
{
    *most = 0;
    for (uint32_t i = 0; i < s->launches; i++) {
        struct program_launch l = {0};
        uint32_t lines;
        s->s.program->ops->launch(s->s.program->state, i, &l);
        if (program_check_launch(&l, i, err) || l1_lines(s, &l, &lines, err))
            return -1;
        if (occupancy_resident(s->gpu, &l, s->n) == 0)
            return occupancy_refuse(i, l.threads, l.registers, l.shared, err);
        *most = lines > *most ? lines : *most;
    }
    return 0;
}

static void take_numbers(struct sm_shared *s, const struct sms_options *o)
{
    s->program = o->program;
    s->schedulers = (uint32_t)o->gpu->schedulers;
    s->dependent = o->gpu->dependent_cycles < 1 ? 1 : (uint32_t)(o->gpu->dependent_cycles + 0.5);
    s->l1_cycles = (uint32_t)o->gpu->l1_cycles;
    s->banks = (uint32_t)o->gpu->l1_banks;
    s->miss_queue = (uint32_t)o->gpu->miss_queue;
    s->room = o->input_room ? o->input_room : 1;
    s->atomics_stall = o->gpu->atomics_stall;
    s->by_line = o->by_line;
    s->join_cycles = o->join_cycles;
    if (o->by_line && s->miss_queue < L1_SECTORS)
        s->miss_queue = L1_SECTORS;
}

/* The lines that the GPU's own memory has of the program. */
static int own_lines(struct sm_shared *s, struct err *err)
{
    size_t n;
    const struct program_alloc *a = s->program->ops->allocs(s->program->state, &n);
    s->own = mem_zalloc(n ? n : 1, sizeof *s->own, err);
    for (size_t i = 0; s->own && i < n; i++)
        if (a[i].device)
            s->own[s->owns++] =
                (struct l1_lines){a[i].addr / L1_LINE, (a[i].addr + a[i].bytes + L1_LINE - 1) / L1_LINE};
    return s->own ? 0 : -1;
}

static int init(struct sms *s, const struct sms_options *o, struct err *err)
{
    uint32_t lines;
    s->gpu = o->gpu;
    s->n = o->sms;
    s->launch_cycles = o->launch_cycles;
    s->kept = o->kept;
    s->words = (s->n + 63) / 64;
    take_numbers(&s->s, o);
    s->launches = o->program->ops->launches(o->program->state);
    s->done = true;
    if (check_gpu(o->gpu, s->n, err) || check_launches(s, &lines, err) || (o->join_cycles && own_lines(&s->s, err)) ||
        wheel_init(&s->s.wheel, s->n, err) || wheel_init(&s->s.shown, s->n, err))
        return -1;
    s->s.heads = mem_zalloc(s->words, sizeof(uint64_t), err);
    s->s.open = s->s.heads ? mem_zalloc(s->words, sizeof(uint64_t), err) : NULL;
    s->due = s->s.open ? mem_zalloc(s->words, sizeof(uint64_t), err) : NULL;
    s->sm = s->due ? mem_zalloc(s->n, sizeof *s->sm, err) : NULL;
    for (uint32_t i = 0; s->sm && i < s->n; i++)
        if (sm_init(&s->sm[i], &s->s, i, o->gpu, lines, err))
            return -1;
    return s->sm ? 0 : -1;
}

struct sms *sms_new(const struct sms_options *options, struct err *err)
{
    struct sms *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    if (init(s, options, err)) {
        sms_free(s);
        return NULL;
    }
    return s;
}

void sms_free(struct sms *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; s->sm && i < s->n; i++)
        sm_release(&s->sm[i]);
    if (s->opened)
        program_run_close(s->s.program, s->s.run);
    wheel_release(&s->s.wheel);
    wheel_release(&s->s.shown);
    free(s->s.own);
    free(s->s.heads);
    free(s->s.open);
    free(s->due);
    free(s->sm);
    free(s);
}

/* --- launches --- */

int sms_start(struct sms *s, int64_t t, struct err *err)
{
    if (!s->done)
        return err_set(err, "a program is started again before it has ended");
    if (s->opened)
        program_run_close(s->s.program, s->s.run);
    s->opened = false;
    if (program_run_open(s->s.program, &s->s.run, err))
        return -1;
    s->opened = true;
    wheel_reset(&s->s.wheel, t);
    wheel_reset(&s->s.shown, t);
    for (uint32_t i = 0; i < s->n; i++)
        sm_reset(&s->sm[i], t);
    memset(s->s.heads, 0, s->words * sizeof(uint64_t));
    memset(s->s.open, 0, s->words * sizeof(uint64_t));
    memset(&s->s.counts, 0, sizeof s->s.counts);
    s->s.failed = false;
    s->s.launch = 0;
    s->s.last_end = t;
    s->last = s->n - 1;
    s->placed = s->s.ended = s->shape.blocks = 0;
    s->done = s->launches == 0;
    s->begin_at = s->done ? INT64_MAX : t + s->launch_cycles;
    return 0;
}

static uint64_t places(const struct sms *s)
{
    return (uint64_t)s->s.per_sm * s->n;
}

static void find_middle(struct sms *s, int64_t t)
{
    s->began = t;
    s->s.middles = 0;
    s->s.there = 0;
    s->s.first = places(s);
    s->s.last = s->shape.blocks > places(s) ? s->shape.blocks - places(s) : 0;
}

/* What the launch that has ended owes to its beginning and end, beyond their share. */
static double ends_of(const struct sms *s)
{
    const double kept = s->kept ? s->kept[s->s.launch] : 1;
    if (kept >= 1 || !s->s.middles)
        return 0;
    const double each = (double)s->s.there / (double)s->s.middles;
    const double middle = each * (double)s->shape.blocks / (double)places(s);
    return (1 - kept) * ((double)(s->s.last_end - s->began) - middle);
}

static void begin(struct sms *s, int64_t t)
{
    struct program_launch *l = &s->shape;
    uint32_t lines = 0;
    memset(l, 0, sizeof *l);
    s->s.program->ops->launch(s->s.program->state, s->s.launch, l);
    if (program_check_launch(l, s->s.launch, &s->s.err) || l1_lines(s, l, &lines, &s->s.err)) {
        s->s.failed = true;
        return;
    }
    s->begin_at = INT64_MAX;
    s->placed = s->s.ended = 0;
    s->s.place_at = t;
    s->s.warps_of_block = program_warps_of_block(l);
    s->s.per_sm = occupancy_resident(s->gpu, l, s->n);
    find_middle(s, t);
    s->s.l1_lines = lines;
    for (uint32_t i = 0; i < s->n; i++)
        s->s.open[i / 64] |= UINT64_C(1) << i % 64;
}

/* The launch has ended, perhaps. */
static void settle(struct sms *s)
{
    if (s->s.failed)
        s->done = true;
    if (s->done || s->begin_at != INT64_MAX || s->s.ended < s->shape.blocks)
        return;
    s->s.counts.launches++;
    s->s.counts.ends += ends_of(s);
    if (++s->s.launch < s->launches)
        s->begin_at = s->s.last_end + s->launch_cycles;
    else
        s->done = true;
}

/* --- blocks --- */

static void place_one(struct sms *s, struct sm *m, int64_t t)
{
    bool fresh = m->launch != s->s.launch + 1;
    if (fresh) /* it has had no block since the launch before: L1 forgets */
        l1_resize(m->l1, s->s.l1_lines);
    m->launch = s->s.launch + 1;
    m->wake = INT64_MAX;
    sm_place(m, s->placed++, t);
    s->last = m->number;
    if (m->resident >= s->s.per_sm)
        s->s.open[m->number / 64] &= ~(UINT64_C(1) << m->number % 64);
    if (m->wake != INT64_MAX)
        wheel_set(&s->s.wheel, m->number, m->wake > t ? m->wake : t + 1);
}

/* One block to each multiprocessor with room, in turn from behind the last that got one. */
static void place(struct sms *s, int64_t t)
{
    uint32_t first = s->last + 1;
    for (uint32_t i = 0; i < s->n && s->placed < s->shape.blocks && !s->s.failed; i++) {
        uint32_t at = first + i < s->n ? first + i : first + i - s->n;
        if (s->s.open[at / 64] >> at % 64 & 1)
            place_one(s, &s->sm[at], t);
    }
}

static bool may_place(const struct sms *s)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < s->words; i++)
        any |= s->s.open[i];
    return any && s->begin_at == INT64_MAX && s->placed < s->shape.blocks;
}

/* --- cycles --- */

int64_t sms_next(const struct sms *s)
{
    if (s->done)
        return INT64_MAX;
    int64_t now = s->s.wheel.now, next = wheel_next(&s->s.wheel), shown = wheel_next(&s->s.shown);
    next = shown < next ? shown : next;
    if (s->begin_at < next)
        next = s->begin_at;
    if (may_place(s) && s->s.place_at < next)
        next = s->s.place_at;
    return next > now ? next : now + 1;
}

int64_t sms_step(struct sms *s, int64_t t)
{
    if (s->done)
        return INT64_MAX;
    bool some = wheel_take(&s->s.shown, t, s->due);
    for (uint32_t i = 0; some && i < s->words; i++)
        s->s.heads[i] |= s->due[i];
    some = wheel_take(&s->s.wheel, t, s->due);
    for (uint32_t i = 0; some && i < s->words; i++)
        for (uint64_t rest = s->due[i]; rest; rest &= rest - 1) {
            struct sm *m = &s->sm[i * 64 + (uint32_t)__builtin_ctzll(rest)];
            int64_t next = sm_visit(m, t);
            if (next != INT64_MAX)
                wheel_set(&s->s.wheel, m->number, next);
        }
    settle(s);
    if (s->begin_at <= t)
        begin(s, t);
    if (s->s.place_at <= t && may_place(s)) {
        place(s, t);
        s->s.place_at = t + 1;
        settle(s);
    }
    return sms_next(s);
}

/* --- packets --- */

const uint64_t *sms_heads(const struct sms *s)
{
    return s->s.heads;
}

const struct sms_packet *sms_head(const struct sms *s, uint32_t sm)
{
    const struct sm *m = &s->sm[sm];
    return s->s.heads[sm / 64] >> sm % 64 & 1 ? &m->ring[m->head & m->ring_mask].packet : NULL;
}

void sms_pop(struct sms *s, uint32_t sm, int64_t t)
{
    sm_pop(&s->sm[sm], t);
}

void sms_reply(struct sms *s, uint32_t sm, uint32_t token, int64_t t)
{
    if (s->done)
        return;
    sm_reply(&s->sm[sm], token, t);
    if (s->s.ended == s->shape.blocks || s->s.failed)
        settle(s);
}

void sms_expect(const struct sms *s, uint32_t sm, uint32_t token)
{
    if (token >> TOKEN_KIND == TOKEN_READ)
        l1_expect_take(s->sm[sm].l1, token);
}

bool sms_done(const struct sms *s)
{
    return s->done;
}

int sms_failed(const struct sms *s, struct err *err)
{
    if (!s->s.failed)
        return 0;
    if (err)
        *err = s->s.err;
    return -1;
}

uint64_t sms_reached(const struct sms *s, uint64_t *blocks)
{
    *blocks = s->done || s->begin_at != INT64_MAX ? 0 : s->placed;
    return s->s.counts.launches;
}

void sms_counts(const struct sms *s, struct sms_counts *counts)
{
    *counts = s->s.counts;
}
