#include "cmd/cmd_record_live.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "cmd/cmd.h"
#include "trace/import/pcie/live.h"
#include "trace/import/pcie/nettlp.h"

static atomic_int stop;

enum { SIGNALS = 3 };
static const int numbers[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[SIGNALS];

static void on_signal(int number)
{
    (void)number;
    atomic_store(&stop, 1);
    for (size_t i = 0; i < SIGNALS; i++)
        (void)sigaction(numbers[i], &before[i], NULL);
}

/* ^C ends the capture, a second one the program. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    for (size_t i = 0; i < SIGNALS; i++)
        (void)sigaction(numbers[i], &action, &before[i]);
}

static int options_of(const struct record_live *r, struct capture_options *options, struct err *err)
{
    struct nettlp_options o;
    param_defaults(nettlp_params, &o);
    if (r->tlp_offset && param_set(nettlp_params, &o, "tlp_offset", r->tlp_offset, err))
        return -1;
    if (r->ports && param_set(nettlp_params, &o, "ports", r->ports, err))
        return -1;
    if (r->adapter && param_set(nettlp_params, &o, "adapter", r->adapter, err))
        return -1;
    return nettlp_capture_options(&o, false, options, err);
}

static uint64_t packets_of(const char *path)
{
    struct err err;
    struct store *store = store_open(path, &err);
    int stream = store ? store_stream_find(store, "tlp") : -1;
    uint64_t n = stream >= 0 ? store_stream(store, stream)->records : 0;
    store_close(store);
    return n;
}

static int record(const struct record_live *r, struct live *live, struct store *store)
{
    struct err err = {""};
    int rc = store_origin(store, "interface", r->interface, &err);
    if (rc == 0)
        rc = live_run(live, store, &stop, &err);
    if (rc == 0)
        rc = store_finish(store, &err);
    else
        (void)store_keep(store, NULL);
    store_close(store);
    uint64_t packets = packets_of(r->output);
    cmd_say("%s: %" PRIu64 " PCIe packets of %" PRIu64 " frames, %" PRIu64 " damaged, %" PRIu64 " dropped%s", r->output,
            packets, live_frames(live), live_damaged(live), live_dropped(live), rc ? "; incomplete" : "");
    if (rc)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    return packets ? EXIT_DONE : EXIT_NOTHING;
}

int cmd_record_live(const struct record_live *r)
{
    struct err err = {""};
    struct capture_options options;
    if (options_of(r, &options, &err))
        return cmd_usage("%s", err.msg);
    int status = cmd_writes(r->output, r->force);
    if (status)
        return status;
    struct live *live = live_open(r->interface, &options, &err);
    if (!live)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    struct store *store = store_create(r->output, r->force ? OUTPUT_REPLACE : OUTPUT_IN_PLACE, cmd_line(), &err);
    if (store) {
        catch_signals();
        cmd_say("recording PCIe packets on %s; ^C ends it", r->interface);
        status = record(r, live, store);
    } else {
        status = cmd_fail(EXIT_DATA, "%s", err.msg);
    }
    live_close(live);
    return status;
}
