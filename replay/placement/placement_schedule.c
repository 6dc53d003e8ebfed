#include "replay/placement/placement_schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

double schedule_alone_ms(const struct schedule_task *t)
{
    return t->cpu_ms + t->copy_in_ms + t->exec_ms + t->idle_ms + t->flush_ms + t->copy_out_ms;
}

double schedule_overlap_ms(const struct schedule_task *a, const struct schedule_task *b)
{
    const struct schedule_task *device = a->placement == PLACEMENT_DEVICE ? a : b;
    const struct schedule_task *managed = device == a ? b : a;
    if (device->placement != PLACEMENT_DEVICE || managed->placement != PLACEMENT_MANAGED)
        return 0;
    double exec = device->exec_ms / device->kernels, idle = managed->idle_ms / managed->kernels;
    if (exec <= 0 || exec > idle)
        return 0;
    return fmin(device->kernels, managed->kernels * floor(idle / exec)) * exec;
}

/* The waiting task with the shortest execution time; `from` gives the order behind it. */
static size_t next_task(const struct schedule_task *tasks, const bool *done, size_t count, double now)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++)
        if (!done[i] && tasks[i].arrival_ms <= now &&
            (best == count || schedule_alone_ms(&tasks[i]) < schedule_alone_ms(&tasks[best])))
            best = i;
    return best;
}

static double next_arrival(const struct schedule_task *tasks, const bool *done, size_t count)
{
    double first = INFINITY;
    for (size_t i = 0; i < count; i++)
        if (!done[i])
            first = fmin(first, tasks[i].arrival_ms);
    return first;
}

/* The first task behind the head, in order of deadline, that may run beside it. */
static size_t find_partner(const struct schedule_task *tasks, const bool *done, size_t count, size_t head, double now)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++)
        if (i != head && !done[i] && tasks[i].arrival_ms <= now && schedule_overlap_ms(&tasks[head], &tasks[i]) > 0 &&
            (best == count || schedule_alone_ms(&tasks[i]) < schedule_alone_ms(&tasks[best])))
            best = i;
    return best;
}

/* Start the pair: copy-in of the device task, the managed task's kernels with device kernels in their idle periods,
 * what is left of the device task, its copy-out. */
static double run_pair(struct schedule *s, const struct schedule_task *tasks, size_t a, size_t b, double now)
{
    size_t device = tasks[a].placement == PLACEMENT_DEVICE ? a : b, managed = device == a ? b : a;
    double overlap = schedule_overlap_ms(&tasks[a], &tasks[b]);
    double managed_end = now + tasks[device].cpu_ms + tasks[device].copy_in_ms + schedule_alone_ms(&tasks[managed]);
    double end = now + schedule_alone_ms(&tasks[a]) + schedule_alone_ms(&tasks[b]) - overlap;
    s->slots[device] = (struct schedule_slot){now, end, (int)managed, overlap};
    s->slots[managed] = (struct schedule_slot){now, managed_end, (int)device, overlap};
    s->pairs++;
    return end;
}

static double peak(const struct schedule *s, const struct schedule_task *tasks, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t j = 0; j < count; j++)
            if (s->slots[j].start_ms <= s->slots[i].start_ms && s->slots[i].start_ms < s->slots[j].finish_ms)
                sum += tasks[j].bytes;
        most = fmax(most, sum);
    }
    return most;
}

int schedule_run(struct schedule *schedule, const struct schedule_task *tasks, size_t count, bool corun,
                 struct err *err)
{
    memset(schedule, 0, sizeof *schedule);
    schedule->slots = mem_zalloc(count, sizeof *schedule->slots, err);
    bool *done = mem_zalloc(count, sizeof *done, err);
    if (!schedule->slots || !done) {
        free(done);
        schedule_release(schedule);
        return -1;
    }
    double now = 0;
    for (size_t left = count; left;) {
        size_t head = next_task(tasks, done, count, now);
        if (head == count) {
            now = next_arrival(tasks, done, count);
            continue;
        }
        size_t partner = corun ? find_partner(tasks, done, count, head, now) : count;
        done[head] = true;
        left--;
        if (partner < count) {
            done[partner] = true;
            left--;
            now = run_pair(schedule, tasks, head, partner, now);
        } else {
            double end = now + schedule_alone_ms(&tasks[head]);
            schedule->slots[head] = (struct schedule_slot){now, end, -1, 0};
            now = end;
        }
    }
    free(done);
    schedule->end_ms = now;
    for (size_t i = 0; i < count; i++) {
        schedule->busy_ms += tasks[i].exec_ms;
        schedule->mean_response_ms += (schedule->slots[i].finish_ms - tasks[i].arrival_ms) / (double)count;
    }
    schedule->peak_bytes = peak(schedule, tasks, count);
    return 0;
}

void schedule_release(struct schedule *schedule)
{
    free(schedule->slots);
    memset(schedule, 0, sizeof *schedule);
}
