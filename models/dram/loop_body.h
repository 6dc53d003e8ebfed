/* loop_body: one visited cycle of a channel under one policy. Included by models/dram/loop.h, several times; no guard.
 *
 * Expects: LOOP(name), which gives a function its name for this policy and instruction set; POLICY(name), a function or
 * type of the policy; LOOP_TARGET, the functions' attributes; LOOP_FIFO, 1 for the policy that keeps both classes in
 * one queue. */

/* --- entering --- */

/* A MEM or PIM request enters at the end of cycle t (an offset). */
LOOP_TARGET void LOOP(enter)(struct dram_channel *ch, int32_t t, uint32_t row, uint32_t bank, uint8_t flags,
                             uint32_t id)
{
    const enum dram_class class = flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM;
    const uint32_t seq = ch->seq++;
    if (__builtin_expect(ch->stats.first_in[class] < 0, 0))
        ch->stats.first_in[class] = ch->base + t;
    ch->stats.in[class]++;
    ch->stats.columns_in += flags & DRAM_COLUMNS;
    if (ch->fate.enter)
        ch->fate.enter[id] = ch->base + t;
    if (LOOP_FIFO) {
        const uint32_t i =
            (ch->fifo.head + (uint32_t)(ch->waiting[DRAM_MEM] + ch->waiting[DRAM_PIM])) % (2 * DRAM_QUEUE);
        ch->fifo.rows[i] = row;
        ch->fifo.ids[i] = id;
        ch->fifo.flags[i] = flags;
        ch->fifo.banks[i] = (uint8_t)bank;
        ch->waiting[class]++;
        return;
    }
    if (class == DRAM_PIM) {
        const uint32_t i = (ch->pim.head + (uint32_t)ch->waiting[DRAM_PIM]) % DRAM_QUEUE;
        ch->pim.rows[i] = row;
        ch->pim.ids[i] = id;
        ch->pim.seqs[i] = seq;
        ch->pim.flags[i] = flags;
        if (ch->waiting[DRAM_PIM]++ == 0)
            ch->older = ch->pending;
        return;
    }
    struct dram_bank_queue *q = &ch->bank[bank];
    const unsigned bit = 1u << bank;
    if (__builtin_expect(q->tail == q->limit, 0))
        dram_bank_queue_compact(q);
    const int i = q->tail++;
    const uint64_t at = UINT64_C(1) << i;
    q->rows[i] = row;
    q->ids[i] = id;
    q->seqs[i] = seq;
    q->flags[i] = flags;
    q->live |= at;
    q->same |= row == q->last_row ? at : 0;
    if (row == ch->open_row[bank]) {
        q->match |= at;
        ch->match |= bit;
    }
    if (!(ch->pending & bit)) {
        ch->pending |= bit;
        ch->head_seq[bank] = seq;
        ch->older &= ~bit;
    }
    ch->waiting[DRAM_MEM]++;
}

/* --- what the policies ask --- */

/* Find the open-row matches of stale banks again. */
LOOP_TARGET void LOOP(refresh)(struct dram_channel *ch, unsigned banks)
{
    for (unsigned m = ch->stale & banks; m; m &= m - 1) {
        const int b = __builtin_ctz(m);
        struct dram_bank_queue *q = &ch->bank[b];
        q->match = q->live ? lanes_find(q->rows, q->tail, ch->open_row[b]) & q->live : 0;
        ch->match = q->match ? ch->match | 1u << b : ch->match & ~(1u << b);
    }
    ch->stale &= ~banks;
}

/* Banks whose next request would hit: a live streak, else a waiting request of the open row. */
LOOP_TARGET unsigned LOOP(next_hit)(struct dram_channel *ch)
{
    if (ch->stale)
        LOOP(refresh)(ch, DRAM_ALL);
    return ch->streak | (ch->match & ch->pending);
}

/* --- completion --- */

LOOP_TARGET void LOOP(complete)(struct dram_channel *ch, uint32_t id, uint8_t flags, int32_t column, int32_t done)
{
    const enum dram_class class = flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM;
    ch->stats.out[class]++;
    ch->stats.last_out[class] = ch->base + done;
    if (ch->fate.column)
        ch->fate.column[id] = ch->base + column;
    if (ch->fate.done)
        ch->fate.done[id] = ch->base + done;
    struct dram_completion *c = &ch->completions[ch->completion_tail++ % DRAM_COMPLETIONS];
    c->done = ch->base + done;
    c->id = id;
    c->flags = flags;
}

/* --- selection --- */

LOOP_TARGET int32_t LOOP(latest)(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* The row commands of a PIM request that takes all slots at t, when its row is not open everywhere: what closes, closes
 * together, then what is closed opens together. Nothing can come between, so their cycles are known now. */
LOOP_TARGET void LOOP(open_for_pim)(struct dram_channel *ch, int32_t t, uint32_t row, uint32_t id)
{
    const struct dram_timing *tm = &ch->timing;
    unsigned closing = DRAM_ALL, closed = 0;
    int32_t precharge = 0, activate = t, act_ok;
    if (ch->uniform) {
        precharge = LOOP(latest)(LOOP(latest)(ch->uniform_act + tm->ras, ch->pim_wtp), t);
        act_ok = ch->uniform_act + tm->rc;
    } else {
        closing = ch->active & ~lanes_eq(ch->open_row, row);
        closed = ~ch->active & DRAM_ALL;
        precharge = LOOP(latest)(LOOP(latest)(lanes_max(ch->pre_ok, closing), ch->pim_wtp), t);
        act_ok = lanes_max(ch->act_ok, closing | closed);
    }
    if (closing) {
        if (ch->rtpl_last > precharge)
            for (int g = 0; g <= ch->group_mask; g++)
                if (closing & ch->group_banks[g] && ch->rtpl_ok[g] > precharge)
                    precharge = ch->rtpl_ok[g];
        activate = precharge + tm->rp;
        ch->stats.precharges++;
    }
    const unsigned opening = closing | closed;
    activate = LOOP(latest)(LOOP(latest)(activate, act_ok), ch->rrd_ok);
    ch->stats.activates++;
    dram_legal_pim_rows(&ch->legal, tm, ch->group_mask, closing, precharge, opening, activate, row);
    if (__builtin_expect(ch->explain > 0, 0))
        dram_channel_explain_pim(ch, closing, precharge, opening, activate, row, id);
    ch->uniform = opening == DRAM_ALL;
    ch->uniform_act = activate;
    ch->uniform_row = row;
    if (!ch->uniform)
        for (unsigned m = opening; m; m &= m - 1) {
            const int b = __builtin_ctz(m);
            ch->rd_ok[b] = activate + tm->rcd;
            ch->wr_ok[b] = activate + tm->rcdwr;
            ch->pre_ok[b] = activate + tm->ras;
            ch->act_ok[b] = activate + tm->rc;
        }
    ch->rrd_ok = activate + tm->rrd;
    ch->active = DRAM_ALL;
    ch->prio = 0;
    ch->pim_activate = activate;
    ch->pim_opens = opening;
    ch->pim_row = row;
}

/* A PIM request takes all slots at t. */
LOOP_TARGET void LOOP(start_pim)(struct dram_channel *ch, int32_t t, uint32_t row, uint32_t id, uint8_t flags)
{
    const struct dram_timing *tm = &ch->timing;
    const bool open =
        ch->uniform ? ch->uniform_row == row : ch->active == DRAM_ALL && lanes_eq(ch->open_row, row) == DRAM_ALL;
    if (!open)
        LOOP(open_for_pim)(ch, t, row, id);
    const int32_t bank_ok = ch->uniform ? ch->uniform_act + tm->rcdwr : lanes_max(ch->wr_ok, DRAM_ALL);
    int32_t column = LOOP(latest)(LOOP(latest)(bank_ok, t), LOOP(latest)(ch->ccd_ok, ch->rtw_ok));
    column = LOOP(latest)(column, ch->ccdl_last);
    dram_legal_pim(&ch->legal, tm, column, row);
    if (__builtin_expect(ch->explain > 0, 0))
        dram_channel_explain(ch, column, "PIM", DRAM_ALL, row, id);
    ch->ccd_ok = column + tm->ccd;
    ch->ccdl_all = ch->ccdl_last = column + tm->ccdl;
    ch->wtr_ok = column + tm->wtr;
    ch->pim_wtp = column + tm->wtp;
    ch->stats.columns++;
    ch->pim_column = column;
    ch->occupied = DRAM_ALL;
    ch->pim_in_slots = true;
    if (ch->fate.sched)
        ch->fate.sched[id] = ch->base + t;
    LOOP(complete)(ch, id, flags, column, column + tm->wl);
    ch->stats.out[DRAM_PIM]--; /* counted when the slots empty */
}

/* Bank b's slot may go on from cycle `at`, as far as the bank is concerned; t is now. */
LOOP_TARGET void LOOP(set_ready)(struct dram_channel *ch, int32_t t, int b, int32_t at)
{
    ch->ready[b] = at;
    if (at <= t) {
        ch->due |= 1u << b;
    } else {
        ch->due &= ~(1u << b);
        ch->next_due = at < ch->next_due ? at : ch->next_due;
    }
}

/* A MEM request goes into the slot of its bank. */
LOOP_TARGET void LOOP(fill_slot)(struct dram_channel *ch, int32_t t, int b, uint32_t row, uint32_t id, uint8_t flags,
                                 bool hit)
{
    const unsigned bit = 1u << b;
    const bool write = flags & DRAM_IS_WRITE;
    ch->stats.accesses[DRAM_MEM]++;
    ch->stats.hits[DRAM_MEM] += hit;
    ch->stats.writes += write;
    ch->stats.write_hits += write & hit;
    ch->occupied |= bit;
    ch->slot_row[b] = row;
    ch->slot_id[b] = id;
    ch->slot_flags[b] = flags;
    ch->slot_columns[b] = flags & DRAM_COLUMNS;
    if (ch->fate.sched)
        ch->fate.sched[id] = ch->base + t;
    if (ch->uniform)
        dram_channel_settle(ch);
    if (!(ch->active & bit)) {
        ch->want_act |= bit;
        LOOP(set_ready)(ch, t, b, ch->act_ok[b]);
    } else if (ch->open_row[b] != row) {
        ch->want_pre |= bit;
        LOOP(set_ready)(ch, t, b, LOOP(latest)(ch->pre_ok[b], ch->pim_wtp));
    } else if (write) {
        ch->want_wr |= bit;
        LOOP(set_ready)(ch, t, b, ch->wr_ok[b]);
    } else {
        ch->want_rd |= bit;
        LOOP(set_ready)(ch, t, b, ch->rd_ok[b]);
    }
}

/* FR-FCFS within a bank: the streak's oldest, else the open row's oldest, else the oldest. */
LOOP_TARGET void LOOP(take)(struct dram_channel *ch, struct DRAM_LOOP_POLICY *policy, int32_t t, int b)
{
    struct dram_bank_queue *q = &ch->bank[b];
    const unsigned bit = 1u << b;
    if (ch->stale & bit)
        LOOP(refresh)(ch, bit);
    int i;
    bool hit = true;
    if (ch->streak & bit) {
        i = __builtin_ctzll(q->same);
    } else if (q->match) {
        i = __builtin_ctzll(q->match);
        q->same = q->match;
    } else {
        i = __builtin_ctzll(q->live);
        q->same = lanes_find(q->rows, q->tail, q->rows[i]) & q->live;
        hit = false;
    }
    const uint64_t at = UINT64_C(1) << i;
    const uint32_t seq = q->seqs[i];
    q->last_row = q->rows[i];
    q->live &= ~at;
    q->same &= ~at;
    q->match &= ~at;
    ch->streak = q->same ? ch->streak | bit : ch->streak & ~bit;
    ch->match = q->match ? ch->match | bit : ch->match & ~bit;
    ch->waiting[DRAM_MEM]--;
    POLICY(served)(policy, ch, DRAM_MEM, q->rows[i], seq);
    LOOP(fill_slot)(ch, t, b, q->rows[i], q->ids[i], q->flags[i], hit);
    if (q->live) {
        ch->head_seq[b] = q->seqs[__builtin_ctzll(q->live)];
        const bool older = ch->waiting[DRAM_PIM] && (int32_t)(ch->head_seq[b] - ch->pim.seqs[ch->pim.head]) < 0;
        ch->older = older ? ch->older | bit : ch->older & ~bit;
    } else {
        q->tail = 0;
        q->limit = 16;
        ch->pending &= ~bit;
        ch->older &= ~bit;
    }
}

LOOP_TARGET void LOOP(take_pim)(struct dram_channel *ch, struct DRAM_LOOP_POLICY *policy, int32_t t)
{
    const uint32_t i = ch->pim.head, row = ch->pim.rows[i];
    ch->pim.head = (i + 1) % DRAM_QUEUE;
    ch->waiting[DRAM_PIM]--;
    POLICY(served)(policy, ch, DRAM_PIM, row, ch->pim.seqs[i]);
    ch->older = ch->waiting[DRAM_PIM] ? lanes_before(ch->head_seq, ch->pim.seqs[ch->pim.head]) & ch->pending : 0;
    ch->stats.accesses[DRAM_PIM]++;
    ch->stats.hits[DRAM_PIM] += ch->uniform ? ch->uniform_row == row : lanes_eq(ch->open_row, row) != 0;
    LOOP(start_pim)(ch, t, row, ch->pim.ids[i], ch->pim.flags[i]);
}

LOOP_TARGET unsigned LOOP(rotate)(unsigned mask, int by)
{
    return (mask | mask << 16) >> by & DRAM_ALL;
}

/* Selection in MEM mode; whether anything changed: a request was taken, or the policy learnt which banks are idle. */
LOOP_TARGET bool LOOP(select_mem)(struct dram_channel *ch, struct DRAM_LOOP_POLICY *policy, int32_t t)
{
    const unsigned empty = ~ch->occupied & DRAM_ALL;
    const unsigned can = empty & ch->pending & ~POLICY(stalled)(policy);
    if (!can)
        return POLICY(asked)(policy, empty);
    const int step = __builtin_ctz(LOOP(rotate)(can, ch->prio));
    if (POLICY(asks)) {
        const unsigned seen = LOOP(rotate)(empty, ch->prio) & ((2u << step) - 1);
        (void)POLICY(asked)(policy, LOOP(rotate)(seen, (16 - ch->prio) & 15));
    }
    const int b = (ch->prio + step) & 15;
    ch->prio = (ch->prio + 1) & 15;
    LOOP(take)(ch, policy, t, b);
    return true;
}

#if LOOP_FIFO
/* The head of the single queue goes if it can. */
LOOP_TARGET bool LOOP(select_fifo)(struct dram_channel *ch, int32_t t)
{
    const uint32_t i = ch->fifo.head;
    if (!(ch->waiting[DRAM_MEM] + ch->waiting[DRAM_PIM]))
        return false;
    const uint32_t row = ch->fifo.rows[i];
    const uint8_t flags = ch->fifo.flags[i];
    const int b = ch->fifo.banks[i];
    if (flags & DRAM_IS_PIM ? ch->occupied != 0 : ch->occupied >> b & 1)
        return false;
    ch->fifo.head = (i + 1) % (2 * DRAM_QUEUE);
    if (flags & DRAM_IS_PIM) {
        ch->waiting[DRAM_PIM]--;
        ch->stats.accesses[DRAM_PIM] += DRAM_BANKS;
        ch->stats.hits[DRAM_PIM] += __builtin_popcount(lanes_eq(ch->open_row, row));
        LOOP(start_pim)(ch, t, row, ch->fifo.ids[i], flags);
    } else {
        ch->waiting[DRAM_MEM]--;
        LOOP(fill_slot)(ch, t, b, row, ch->fifo.ids[i], flags, ch->open_row[b] == row);
    }
    return true;
}
#endif

/* --- commands to MEM slots --- */

LOOP_TARGET void LOOP(column)(struct dram_channel *ch, int32_t t, int b)
{
    const struct dram_timing *tm = &ch->timing;
    const unsigned bit = 1u << b;
    const int g = b & ch->group_mask;
    if (__builtin_expect(ch->explain > 0, 0))
        dram_channel_explain(ch, t, ch->want_rd & bit ? "RD" : "WR", bit, ch->slot_row[b], ch->slot_id[b]);
    ch->ccd_ok = t + tm->ccd;
    ch->ccdl_ok[g] = ch->ccdl_last = t + tm->ccdl;
    ch->stats.columns++;
    int32_t done;
    if (ch->want_rd & bit) {
        dram_legal_rd(&ch->legal, tm, t, b, g, ch->slot_row[b]);
        ch->rtw_ok = t + tm->rtw;
        ch->rtpl_ok[g] = ch->rtpl_last = t + tm->rtpl;
        if (t + tm->rtp > ch->pre_ok[b])
            ch->pre_ok[b] = t + tm->rtp;
        done = t + tm->cl;
    } else {
        dram_legal_wr(&ch->legal, tm, t, b, g, ch->slot_row[b]);
        ch->wtr_ok = t + tm->wtr;
        if (t + tm->wtp > ch->pre_ok[b])
            ch->pre_ok[b] = t + tm->wtp;
        done = t + tm->wl;
    }
    if (--ch->slot_columns[b])
        return;
    ch->occupied &= ~bit;
    ch->want_rd &= ~bit;
    ch->want_wr &= ~bit;
    ch->due &= ~bit;
    ch->ready[b] = INT32_MAX;
    LOOP(complete)(ch, ch->slot_id[b], ch->slot_flags[b], t, done);
}

LOOP_TARGET void LOOP(activate)(struct dram_channel *ch, int32_t t, int b)
{
    const struct dram_timing *tm = &ch->timing;
    const unsigned bit = 1u << b;
    const uint32_t row = ch->slot_row[b];
    if (__builtin_expect(ch->explain > 0, 0))
        dram_channel_explain(ch, t, "ACT", bit, row, ch->slot_id[b]);
    dram_legal_act(&ch->legal, tm, t, b, row);
    ch->active |= bit;
    ch->want_act &= ~bit;
    ch->open_row[b] = row;
    ch->rrd_ok = t + tm->rrd;
    ch->rd_ok[b] = t + tm->rcd;
    ch->wr_ok[b] = t + tm->rcdwr;
    ch->pre_ok[b] = t + tm->ras;
    ch->act_ok[b] = t + tm->rc;
    if (ch->slot_flags[b] & DRAM_IS_WRITE) {
        ch->want_wr |= bit;
        LOOP(set_ready)(ch, t, b, t + tm->rcdwr);
    } else {
        ch->want_rd |= bit;
        LOOP(set_ready)(ch, t, b, t + tm->rcd);
    }
    if (!LOOP_FIFO) { /* the slot's row is the row selected last: its waiting requests are known */
        struct dram_bank_queue *q = &ch->bank[b];
        q->match = q->same;
        ch->match = q->same ? ch->match | bit : ch->match & ~bit;
        ch->stale &= ~bit;
    }
    ch->stats.activates++;
    ch->prio = (b + 1) & 15;
}

LOOP_TARGET void LOOP(precharge)(struct dram_channel *ch, int32_t t, int b)
{
    const unsigned bit = 1u << b;
    if (__builtin_expect(ch->explain > 0, 0))
        dram_channel_explain(ch, t, "PRE", bit, ch->open_row[b], ch->slot_id[b]);
    dram_legal_pre(&ch->legal, &ch->timing, t, b, b & ch->group_mask);
    ch->active &= ~bit;
    ch->want_pre &= ~bit;
    ch->want_act |= bit;
    if (t + ch->timing.rp > ch->act_ok[b])
        ch->act_ok[b] = t + ch->timing.rp;
    LOOP(set_ready)(ch, t, b, ch->act_ok[b]);
    ch->stats.precharges++;
    ch->prio = (b + 1) & 15;
}

/* Banks of groups whose time in `ok` has not come. */
LOOP_TARGET unsigned LOOP(blocked)(const struct dram_channel *ch, const int32_t *ok, int32_t t)
{
    unsigned blocked = ok == ch->ccdl_ok && ch->ccdl_all > t ? DRAM_ALL : 0;
    for (int g = 0; g <= ch->group_mask; g++)
        blocked |= ok[g] > t ? ch->group_banks[g] : 0;
    return blocked;
}

/* Column scan, then row scan; whether a command was given. */
LOOP_TARGET bool LOOP(issue)(struct dram_channel *ch, int32_t t)
{
    if (t >= ch->next_due) {
        ch->due |= lanes_le(ch->ready, t);
        ch->next_due = lanes_next(ch->ready, t);
    }
    const unsigned due = ch->due;
    if (!due)
        return false;
    bool gave = false;
    unsigned columns = 0;
    if (t >= ch->ccd_ok) {
        columns = due & ((t >= ch->wtr_ok ? ch->want_rd : 0) | (t >= ch->rtw_ok ? ch->want_wr : 0));
        if (columns && ch->ccdl_last > t)
            columns &= ~LOOP(blocked)(ch, ch->ccdl_ok, t);
    }
    const int prio = ch->prio;
    if (columns) {
        LOOP(column)(ch, t, (prio + __builtin_ctz(LOOP(rotate)(columns, prio))) & 15);
        gave = true;
    }
    unsigned rows = due & (ch->want_pre | (t >= ch->rrd_ok ? ch->want_act : 0));
    if (rows & ch->want_pre && ch->rtpl_last > t)
        rows &= ~(ch->want_pre & LOOP(blocked)(ch, ch->rtpl_ok, t));
    if (rows) {
        const int b = (prio + __builtin_ctz(LOOP(rotate)(rows, prio))) & 15;
        if (ch->want_act >> b & 1)
            LOOP(activate)(ch, t, b);
        else
            LOOP(precharge)(ch, t, b);
        gave = true;
    }
    return gave;
}

/* Whether a request that enters after cycle `now` can change anything before the next event: not a PIM request behind
 * another one in the slots, with no MEM request to turn the mode for. */
LOOP_TARGET bool LOOP(entry_matters)(const struct dram_channel *ch, enum dram_class class)
{
    return class == DRAM_MEM || !ch->pim_in_slots || ch->mode == DRAM_MEM || ch->waiting[DRAM_MEM];
}

/* --- counting --- */

/* n cycles pass with the state as it is. */
LOOP_TARGET void LOOP(count)(struct dram_channel *ch, int64_t n)
{
    struct dram_stats *s = &ch->stats;
    const int64_t slots = __builtin_popcount(ch->occupied), any = ch->occupied ? n : 0;
    s->slot_sum += n * slots;
    s->slot_cycles += any;
    if (!ch->pim_in_slots) {
        s->mem_slot_sum += n * slots;
        s->mem_slot_cycles += any;
        if (ch->mode == DRAM_PIM)
            s->drain += any;
    }
    if (ch->waiting[!ch->mode])
        s->wait[!ch->mode] += n;
}

/* The PIM request's row appears in the registers of the banks it opened. */
LOOP_TARGET void LOOP(open_pim_row)(struct dram_channel *ch)
{
    if (ch->pim_opens == DRAM_ALL)
        for (int b = 0; b < DRAM_BANKS; b++)
            ch->open_row[b] = ch->pim_row;
    else
        for (unsigned m = ch->pim_opens; m; m &= m - 1)
            ch->open_row[__builtin_ctz(m)] = ch->pim_row;
    ch->stale |= ch->pim_opens & ch->pending;
    ch->match &= ~ch->pim_opens;
    ch->pim_activate = INT32_MAX;
}

/* --- the cycle --- */

/* Do everything of cycle `now` but entering. Returns the next cycle at which something may happen without an entry,
 * INT64_MAX if none. */
LOOP_TARGET int64_t LOOP(visit)(struct dram_channel *ch, struct DRAM_LOOP_POLICY *policy, int64_t now)
{
    if (__builtin_expect(now - ch->base > 1 << 29, 0))
        dram_channel_rebase(ch, now);
    const int32_t t = (int32_t)(now - ch->base);
    const int64_t gap = (int64_t)t - ch->last - 1;
    ch->last = t;
    ch->stats.visits++;
    if (gap > 0) {
        LOOP(count)(ch, gap);
        POLICY(advance)(policy, ch, gap);
    }
    if (t > ch->pim_activate)
        LOOP(open_pim_row)(ch);
    if (ch->pim_in_slots && t > ch->pim_column) {
        ch->pim_in_slots = false;
        ch->occupied = 0;
        ch->stats.out[DRAM_PIM]++;
    }

    bool changed = false;
    POLICY(begin)(policy, now);
    const unsigned hits = POLICY(needs_hits) && ch->mode == DRAM_MEM && ch->waiting[DRAM_PIM] ? LOOP(next_hit)(ch) : 0;
    const enum dram_leave leave = POLICY(leaves)(policy, ch, hits);
    if (leave != DRAM_STAY) {
        changed = true;
        if (ch->mode == DRAM_MEM) {
            ch->mode = DRAM_PIM;
            ch->stats.switches[DRAM_PIM]++;
            ch->stats.capped += leave == DRAM_LEAVE_CAP;
            ch->stats.conflicts += LOOP_FIFO ? dram_channel_fifo_conflicts(ch) : __builtin_popcount(LOOP(next_hit)(ch));
            ch->streak = 0;
        } else {
            ch->mode = DRAM_MEM;
            ch->stats.switches[DRAM_MEM]++;
        }
    }

#if LOOP_FIFO
    const bool took = LOOP(select_fifo)(ch, t);
#else
    bool took = false;
    if (ch->mode == DRAM_MEM) {
        if (!ch->pim_in_slots)
            took = LOOP(select_mem)(ch, policy, t);
    } else if (!ch->occupied && ch->waiting[DRAM_PIM]) {
        LOOP(take_pim)(ch, policy, t);
        took = true;
    }
#endif
    LOOP(count)(ch, 1);
    changed |= took;
    if (ch->pim_in_slots) { /* nothing but the request's own commands, unless the mode may change meanwhile */
        if (changed && (ch->waiting[DRAM_MEM] || ch->mode == DRAM_MEM))
            return now + 1;
        int64_t next = ch->base + ch->pim_column + 1;
        if (ch->mode == DRAM_MEM && ch->pim_activate != INT32_MAX && ch->pim_activate >= t)
            next = ch->base + ch->pim_activate + 1;
        const int64_t own = POLICY(next)(policy, ch, now);
        return own < next ? own : next;
    }
    if (ch->occupied)
        changed |= LOOP(issue)(ch, t);
    if (changed)
        return now + 1;
    if (!ch->occupied)
        return POLICY(next)(policy, ch, now);
    /* Nothing happened: the state stays until one of these. */
    int32_t next = ch->next_due;
#define SOONER(cycle) next = (cycle) > t && (cycle) < next ? (cycle) : next
    SOONER(ch->wtr_ok);
    SOONER(ch->rtw_ok);
    SOONER(ch->rrd_ok);
    SOONER(ch->ccd_ok);
#undef SOONER
    if (ch->ccdl_last > t || ch->rtpl_last > t)
        next = t + 1;
    int64_t at = next >= INT32_MAX - 1 ? INT64_MAX : ch->base + next;
    const int64_t own = POLICY(next)(policy, ch, now);
    return own < at ? own : at;
}
