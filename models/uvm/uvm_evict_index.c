#include "models/uvm/uvm_evict_index.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

static struct uvm_evict_node join(struct uvm_evict_node a, struct uvm_evict_node b)
{
    const uint32_t most = a.most > b.most ? a.most : b.most;
    return (struct uvm_evict_node){a.count + b.count, most,
                                   (a.most == most ? a.ties : 0) + (b.most == most ? b.ties : 0)};
}

static void set(struct uvm_evict_index *x, uint32_t place, struct uvm_evict_node node)
{
    size_t i = (size_t)x->size + place;
    x->nodes[i] = node;
    while (i /= 2)
        x->nodes[i] = join(x->nodes[2 * i], x->nodes[2 * i + 1]);
}

static struct uvm_evict_node leaf_of(const struct uvm_evict_view *view, uint32_t block)
{
    return (struct uvm_evict_node){1, UINT32_MAX - view->index->key(view->index->state, view, block), 1};
}

/* Gives places to the blocks of the list. */
static void fill(struct uvm_evict_index *x, const struct uvm_evict_view *view)
{
    x->next = 0;
    memset(x->nodes, 0, 2 * (size_t)x->size * sizeof *x->nodes);
    memset(x->place, 0, view->block_count * sizeof *x->place);
    for (uint32_t b = view->oldest; b != UVM_NO_BLOCK; b = view->blocks[b].newer) {
        x->nodes[x->size + x->next] = leaf_of(view, b);
        x->block[x->next++] = b;
        x->place[b] = x->next;
    }
    for (size_t i = x->size - 1; i; i--)
        x->nodes[i] = join(x->nodes[2 * i], x->nodes[2 * i + 1]);
}

int uvm_evict_index_init(struct uvm_evict_index *x, struct uvm_evict_view *view, uvm_evict_key *key, const void *state,
                         struct err *err)
{
    *x = (struct uvm_evict_index){.size = 2, .key = key, .state = state};
    while (x->size < 2 * (uint64_t)view->block_count)
        x->size *= 2;
    x->nodes = mem_zalloc(2 * (size_t)x->size, sizeof *x->nodes, err);
    x->block = mem_zalloc(x->size, sizeof *x->block, err);
    x->place = mem_zalloc(view->block_count, sizeof *x->place, err);
    if (!x->nodes || !x->block || !x->place)
        return -1;
    view->index = x;
    fill(x, view);
    return 0;
}

void uvm_evict_index_release(struct uvm_evict_index *x)
{
    free(x->nodes);
    free(x->block);
    free(x->place);
}

void uvm_evict_index_hide(const struct uvm_evict_view *view, uint32_t block)
{
    if (view->index && block != UVM_NO_BLOCK && view->index->place[block])
        set(view->index, view->index->place[block] - 1, (struct uvm_evict_node){0});
}

void uvm_evict_index_note(const struct uvm_evict_view *view, uint32_t block, bool gone)
{
    struct uvm_evict_index *x = view->index;
    if (!x || block == view->requester || block == UVM_NO_BLOCK)
        return;
    const bool moves = !gone && view->newest == block && x->place[block] != x->next;
    if (x->place[block] && (gone || moves)) {
        set(x, x->place[block] - 1, (struct uvm_evict_node){0});
        x->place[block] = 0;
    }
    if (moves && x->next == x->size)
        fill(x, view);
    else if (moves) {
        x->block[x->next++] = block;
        x->place[block] = x->next;
    }
    if (x->place[block])
        set(x, x->place[block] - 1, leaf_of(view, block));
}

struct uvm_victim uvm_evict_pick_least(void *state, const struct uvm_evict_view *view)
{
    const struct uvm_evict_index *x = view->index;
    size_t i = 1;
    (void)state;
    if (!x) /* a policy without a key */
        return uvm_evict_whole(UVM_NO_BLOCK);
    for (const struct uvm_evict_node *old = &x->nodes[2]; i < x->size; old = &x->nodes[2 * i])
        i = 2 * i + !(old->ties && old->most == x->nodes[1].most);
    return uvm_evict_whole(x->nodes[1].count ? x->block[i - x->size] : UVM_NO_BLOCK);
}

static uint32_t others(struct uvm_evict_node node, uint32_t key)
{
    return node.count - (node.most == UINT32_MAX - key ? node.ties : 0);
}

uint32_t uvm_evict_index_other(const struct uvm_evict_view *view, uint32_t key, uint64_t draw)
{
    const struct uvm_evict_index *x = view->index;
    const uint32_t count = x ? others(x->nodes[1], key) : 0;
    size_t i = 1;
    uint32_t n = count ? (uint32_t)(draw % count) : 0;
    while (count && i < x->size) {
        const uint32_t old = others(x->nodes[2 * i], key);
        i = 2 * i + (n >= old);
        n -= n >= old ? old : 0;
    }
    return count ? x->block[i - x->size] : UVM_NO_BLOCK;
}
