/* The half of uvm_memory that hands out memory: the order of service, victims, and what becomes of them. */
#include <stdlib.h>
#include <string.h>

#include "replay/uvm/uvm_memory.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"

enum { PIECES = UVM_BLOCK_PIECES };

int uvm_memory_evict_by(struct uvm_memory *m, const struct uvm_evict_policy *policy, const void *params,
                        struct err *err)
{
    if (!policy)
        return 0;
    m->evict = policy;
    m->evict_state = mem_zalloc(1, policy->head.state_size, err);
    if (!m->evict_state)
        return -1;
    if (params)
        memcpy(m->evict_state, params, policy->head.state_size);
    else if (policy->head.params)
        param_defaults(policy->head.params, m->evict_state);
    if (policy->init && policy->init(m->evict_state, err))
        return -1;
    m->in_pieces = uvm_evict_in_pieces(policy, m->evict_state);
    m->remote_after_eviction = policy->threshold != NULL;
    if (m->in_pieces)
        m->view.piece_age = m->piece_age = mem_zalloc(m->block_count, PIECES * sizeof *m->piece_age, err);
    return m->in_pieces && !m->piece_age ? -1 : 0;
}

/* --- the order of service --- */

static void unlink_block(struct uvm_memory *m, uint32_t number)
{
    struct uvm_evict_block *b = &m->facts[number];
    enum uvm_memory_list list = m->blocks[number].list;
    bool idle = list != UVM_MEMORY_USED;
    if (b->older != UVM_NO_BLOCK)
        m->facts[b->older].newer = b->newer;
    else
        *(idle ? &m->idle_oldest[list] : &m->view.oldest) = b->newer;
    if (b->newer != UVM_NO_BLOCK)
        m->facts[b->newer].older = b->older;
    else
        *(idle ? &m->idle_newest[list] : &m->view.newest) = b->older;
    b->older = b->newer = UVM_NO_BLOCK;
    m->blocks[number].list = UVM_MEMORY_USED;
}

static void link_last(struct uvm_memory *m, uint32_t number, uint32_t *oldest, uint32_t *newest)
{
    struct uvm_evict_block *b = &m->facts[number];
    b->older = *newest;
    b->newer = UVM_NO_BLOCK;
    *(*newest != UVM_NO_BLOCK ? &m->facts[*newest].newer : oldest) = number;
    *newest = number;
}

void uvm_memory_newest(struct uvm_memory *m, uint32_t number)
{
    if (m->view.newest == number)
        return;
    unlink_block(m, number);
    link_last(m, number, &m->view.oldest, &m->view.newest);
}

void uvm_memory_emptied(struct uvm_memory *m, uint32_t number, enum uvm_memory_list list)
{
    unlink_block(m, number);
    m->blocks[number].list = list;
    link_last(m, number, &m->idle_oldest[list], &m->idle_newest[list]);
    uvm_memory_tell(m, number, UVM_EVICT_EMPTIED);
}

void uvm_memory_begin_batch(struct uvm_memory *m, uint32_t batch, int64_t fetch_ns)
{
    m->view.batch = batch;
    m->view.time_ns = fetch_ns;
}

/* Whether chunks are shared by blocks that are cut short: pieces and unlimited memory know no chunks. */
static bool by_chunks(const struct uvm_memory *m)
{
    return m->chunks && !m->in_pieces;
}

static void count_free(struct uvm_memory *m)
{
    uint64_t used = by_chunks(m) ? m->chunks_used * PIECES : m->pieces_used;
    m->view.free_pieces = m->chunks ? m->chunks * PIECES - used : 0;
}

uint32_t uvm_memory_in_shared(const struct uvm_memory *m, uint32_t cut, uint32_t chunk)
{
    uint32_t held = 0;
    for (uint32_t i = 0; i < PIECES; i++)
        held |= (uint32_t)(m->place[(size_t)cut * PIECES + i] == chunk + 1) << i;
    return held;
}

/* Pieces that are free in shared chunks; that which is being evicted has none. */
static uint32_t room_in_shared(const struct uvm_memory *m)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i <= m->cut_count; i++)
        room += m->shared[i] && i != m->draining ? PIECES - m->shared[i] : 0;
    return room;
}

/* A piece of a cut block gets a place in the first shared chunk with room, or in a new one. Which. */
static uint32_t place(struct uvm_memory *m, uint32_t cut, unsigned piece)
{
    uint32_t to = UVM_NO_BLOCK;
    for (uint32_t i = 0; i <= m->cut_count && to == UVM_NO_BLOCK; i++)
        if (m->shared[i] && i != m->draining && m->shared[i] < PIECES)
            to = i;
    for (uint32_t i = 0; i <= m->cut_count && to == UVM_NO_BLOCK; i++)
        if (!m->shared[i])
            to = i;
    m->chunks_used += !m->shared[to];
    m->shared[to]++;
    m->place[(size_t)cut * PIECES + piece] = to + 1;
    return to;
}

/* A block takes its chunk, or the pieces `held` of shared ones; false if there are none. *taken: pieces no longer free.
 */
static bool take_chunk(struct uvm_memory *m, uint32_t number, uint32_t held, uint32_t *taken)
{
    struct uvm_memory_block *b = &m->blocks[number];
    uint64_t before = m->chunks_used;
    if (b->cut == UVM_NO_BLOCK) {
        *taken = PIECES;
        m->chunks_used += m->chunks_used < m->chunks;
        return m->chunks_used > before;
    }
    uint32_t room = room_in_shared(m), need = (uint32_t)__builtin_popcount(held);
    if (need > room && m->chunks_used + (need - room + PIECES - 1) / PIECES > m->chunks)
        return false;
    uint32_t last = UVM_NO_BLOCK;
    for (; held; held &= held - 1) {
        uint32_t to = place(m, b->cut, (unsigned)__builtin_ctz(held));
        for (uint32_t i = 0; i < m->cut_count && to != last; i++)
            if (m->cut[i] != number && uvm_memory_in_shared(m, i, to))
                uvm_memory_newest(m, m->cut[i]); /* the whole chunk moves */
        last = to;
    }
    *taken = (uint32_t)(m->chunks_used - before) * PIECES;
    return true;
}

/* What goes with a victim: all that it has, or its pieces of one shared chunk, which is evicted from then on. */
static uint32_t share_to_evict(struct uvm_memory *m, uint32_t number)
{
    const struct uvm_memory_block *b = &m->blocks[number];
    if (!uvm_memory_shares(m, b))
        return UINT32_MAX;
    if (m->draining == UVM_NO_BLOCK)
        m->draining = m->place[(size_t)b->cut * PIECES + (unsigned)__builtin_ctz(m->facts[number].pieces)] - 1;
    return uvm_memory_in_shared(m, b->cut, m->draining);
}

/* A block gives its chunk, or its pieces `held` of the one that is being evicted, back. */
static void give_chunk(struct uvm_memory *m, uint32_t number, uint32_t held, struct uvm_evicted *evicted)
{
    const struct uvm_memory_block *b = &m->blocks[number];
    if (b->cut != UVM_NO_BLOCK) {
        m->shared[m->draining] -= (uint8_t)__builtin_popcount(held);
        for (; held; held &= held - 1)
            m->place[(size_t)b->cut * PIECES + (unsigned)__builtin_ctz(held)] = 0;
        evicted->more = m->shared[m->draining] > 0;
        if (!evicted->more)
            m->draining = UVM_NO_BLOCK;
    }
    evicted->pieces = evicted->more ? 0 : PIECES;
    m->chunks_used -= !evicted->more;
}

/* Note what evicted pages were, while they still are; `back` are those that are copied. */
static void note_evicted(struct uvm_memory *m, uint32_t number, const struct page_mask *out,
                         const struct page_mask *back)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask used = uvm_memory_own(b, &m->used[number]), unused;
    page_mask_andnot(&unused, &b->prefetched, &used);
    page_mask_and(&unused, &unused, out);
    m->evictions.pages += page_mask_count(out);
    m->evictions.back += page_mask_count(back);
    m->evictions.unused += page_mask_count(&unused);
    page_mask_or(&b->evicted, &b->evicted, back);
    PAGE_MASK_EACH(page, back)
    m->left_batch[(size_t)number * ACTOR_BLOCK_PAGES + page] = m->view.batch;
}

/* The pieces `held` of a block go, and what is resident in them. */
static void evict(struct uvm_memory *m, uint32_t number, uint32_t held, struct uvm_evicted *evicted)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct uvm_evict_block *f = &m->facts[number];
    bool all = !(f->pieces & ~held);
    struct page_mask out = b->block.resident;
    if (!all) {
        struct page_mask part = uvm_memory_pages_of(held);
        page_mask_and(&out, &out, &part);
    }
    struct page_mask back = out;
    if (m->allocs[b->alloc].advice & ACTOR_READ_MOSTLY) {
        struct page_mask dirty = uvm_memory_own(b, &m->dirty[number]), clean;
        page_mask_andnot(&clean, &b->host_valid, &dirty);
        page_mask_andnot(&back, &out, &clean);
    }
    *evicted = (struct uvm_evicted){
        .number = number, .copied_pages = page_mask_count(&back), .runs = page_mask_runs(&back), .copied = back};
    uvm_memory_enter(m, b,
                     &(struct uvm_account){.d2h = evicted->copied_pages,
                                           .dropped = page_mask_count(&out) - evicted->copied_pages,
                                           .evictions = 1});
    note_evicted(m, number, &out, &back);
    page_mask_or(&b->host_valid, &b->host_valid, &back);
    uvm_memory_leave(m, number, &out);
    if (uvm_memory_accessed_by(m, b) || m->remote_after_eviction)
        uvm_memory_map_remote(m, number, &out, !uvm_memory_accessed_by(m, b));
    bool counted = m->in_pieces || uvm_memory_shares(m, b);
    uint32_t given = counted ? (uint32_t)__builtin_popcount(held & f->pieces) : uvm_memory_whole(b);
    evicted->pieces = given;
    if (by_chunks(m))
        give_chunk(m, number, held, evicted);
    f->pieces &= ~held;
    f->evictions++;
    if (all) {
        unlink_block(m, number);
        b->chunk = false;
    }
    m->pieces_used -= given;
    count_free(m);
    uvm_memory_tell(m, number, UVM_EVICT_FREED);
}

/* Whether a block of the batch in hand would go with a victim. */
static bool takes_in_hand(const struct uvm_memory *m, uint32_t number)
{
    const struct uvm_memory_block *b = &m->blocks[number];
    if (!uvm_memory_shares(m, b) || !m->facts[number].pieces)
        return uvm_evict_in_hand(&m->view, number);
    uint32_t chunk = m->place[(size_t)b->cut * PIECES + (unsigned)__builtin_ctz(m->facts[number].pieces)] - 1;
    for (uint32_t i = 0; i < m->cut_count; i++)
        if (uvm_evict_in_hand(&m->view, m->cut[i]) && uvm_memory_in_shared(m, i, chunk))
            return true;
    return false;
}

/* Evict whom the policy picks. 1, 0 if it picks none, -1 with *err set: it broke a rule. */
static int evict_one(struct uvm_memory *m, uint32_t needs, struct uvm_evicted *evicted, struct err *err)
{
    m->view.needs = needs;
    for (uint32_t i = 0; m->draining != UVM_NO_BLOCK && i < m->cut_count; i++)
        if (uvm_memory_in_shared(m, i, m->draining)) {
            evict(m, m->cut[i], share_to_evict(m, m->cut[i]), evicted);
            return 1;
        }
    for (int list = UVM_MEMORY_UNUSED; list <= UVM_MEMORY_DISCARDED; list++) {
        uint32_t idle = m->idle_oldest[list];
        if (idle == needs && idle != UVM_NO_BLOCK)
            idle = m->facts[idle].newer;
        if (idle == UVM_NO_BLOCK)
            continue;
        evict(m, idle, UINT32_MAX, evicted);
        return 1;
    }
    struct uvm_victim v = m->evict->pick(m->evict_state, &m->view);
    const bool there = v.block < m->block_count;
    if (needs == UVM_NO_BLOCK && (v.block == UVM_NO_BLOCK || (there && takes_in_hand(m, v.block))))
        return 0; /* nothing of the batch in hand goes while nobody waits for it */
    if (!there || v.block == needs || !(m->facts[v.block].pieces & v.pieces))
        return err_set(err, "check violated: eviction policy %s picks VA block %u, pieces %x; it holds no such memory",
                       m->evict->head.name, v.block, v.pieces);
    evict(m, v.block, m->in_pieces ? v.pieces : share_to_evict(m, v.block), evicted);
    return 1;
}

int uvm_memory_evict_early(struct uvm_memory *m, struct uvm_evicted *evicted, struct err *err)
{
    int rc = evict_one(m, UVM_NO_BLOCK, evicted, err);
    m->evictions.early += rc == 1;
    return rc;
}

int uvm_memory_take(struct uvm_memory *m, uint32_t number, const struct page_mask *come, uint32_t *taken,
                    struct uvm_evicted *evicted, struct err *err)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct uvm_evict_block *f = &m->facts[number];
    bool counted = m->in_pieces || uvm_memory_shares(m, b);
    uint32_t held = counted ? uvm_memory_pieces_of(come) & ~f->pieces : b->chunk ? 0 : UINT32_MAX;
    uint32_t more = !held ? 0 : counted ? (uint32_t)__builtin_popcount(held) : uvm_memory_whole(b);
    *taken = more;
    if (!held)
        return 1;
    if (by_chunks(m) ? !take_chunk(m, number, held, taken) : m->chunks && m->pieces_used + more > m->chunks * PIECES)
        return evict_one(m, number, evicted, err) < 0 ? -1 : 0;
    if (!b->chunk) {
        f->arrived = ++m->arrivals;
        link_last(m, number, &m->view.oldest, &m->view.newest);
    } else if (uvm_memory_shares(m, b)) {
        uvm_memory_newest(m, number);
    }
    f->pieces |= held;
    b->chunk = true;
    b->known = true;
    m->pieces_used += more;
    count_free(m);
    uvm_memory_tell(m, number, UVM_EVICT_ALLOCATED);
    return 1;
}

uint64_t uvm_memory_free_chunks(const struct uvm_memory *m)
{
    return m->view.free_pieces / PIECES;
}
