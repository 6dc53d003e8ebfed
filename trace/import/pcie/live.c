#include "trace/import/pcie/live.h"

#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* 256 bytes hold every header: Ethernet 14, eight VLAN tags 32, IPv4 60, UDP 8, NetTLP 6, prefixes 16, TLP 16. */
enum { SNAPLEN = 256, WAKE_MS = 100, KERNEL_BUFFER = 64 << 20 };

struct live {
    pcap_t *pcap;
    struct capture capture;
    uint64_t dropped;
};

static int activate(pcap_t *pcap, const char *interface, struct err *err)
{
    (void)pcap_set_snaplen(pcap, SNAPLEN);
    (void)pcap_set_promisc(pcap, 1);
    (void)pcap_set_timeout(pcap, WAKE_MS);
    (void)pcap_set_buffer_size(pcap, KERNEL_BUFFER);
    (void)pcap_set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO);
    int rc = pcap_activate(pcap);
    char text[PCAP_ERRBUF_SIZE] = "";
    if (rc >= 0 && pcap_setnonblock(pcap, 1, text) == 0)
        return 0;
    if (rc >= 0)
        return err_set(err, "cannot capture on '%s': %s", interface, text);
    const char *detail = pcap_geterr(pcap);
    const char *sep = detail[0] ? ": " : "";
    if (rc == PCAP_ERROR_PERM_DENIED || rc == PCAP_ERROR_PROMISC_PERM_DENIED)
        return err_set(err,
                       "no permission to capture on '%s': run as root, or give the program the capability: "
                       "setcap cap_net_raw,cap_net_admin+ep",
                       interface);
    if (rc == PCAP_ERROR_NO_SUCH_DEVICE)
        return err_set(err, "there is no network interface '%s'%s%s", interface, sep, detail);
    return err_set(err, "cannot capture on '%s': %s%s%s", interface, pcap_statustostr(rc), sep, detail);
}

struct live *live_open(const char *interface, const struct capture_options *options, struct err *err)
{
    char text[PCAP_ERRBUF_SIZE] = "";
    struct live *live = mem_zalloc(1, sizeof *live, err);
    if (!live)
        return NULL;
    live->pcap = pcap_create(interface, text);
    if (!live->pcap)
        err_set(err, "cannot capture on '%s': %s", interface, text);
    capture_init(&live->capture, options, NULL);
    if (!live->pcap || activate(live->pcap, interface, err) ||
        capture_link(&live->capture, pcap_datalink(live->pcap), err)) {
        live_close(live);
        return NULL;
    }
    live->capture.microseconds = pcap_get_tstamp_precision(live->pcap) != PCAP_TSTAMP_PRECISION_NANO;
    return live;
}

void live_close(struct live *live)
{
    if (!live)
        return;
    if (live->pcap)
        pcap_close(live->pcap);
    free(live);
}

static int store_drops(struct live *live, struct store *store, struct err *err)
{
    struct pcap_stat stat;
    if (pcap_stats(live->pcap, &stat))
        return 0;
    live->dropped = (uint64_t)stat.ps_drop + stat.ps_ifdrop;
    if (stat.ps_drop && store_drop(store, "capture buffer full", stat.ps_drop, err))
        return -1;
    return stat.ps_ifdrop ? store_drop(store, "dropped by the interface", stat.ps_ifdrop, err) : 0;
}

int live_run(struct live *live, struct store *store, const atomic_int *stop, struct err *err)
{
    struct err ignored;
    live->capture.sink = tlp_sink_open(store, 0, err);
    if (!live->capture.sink)
        return -1;
    live->capture.store = store;
    tlp_sink_total(live->capture.sink, "snaplen", SNAPLEN);
    int rc = capture_loop(&live->capture, live->pcap, true, stop, err);
    /* What was seen before an error is kept. */
    if (capture_finish(&live->capture, store, rc ? &ignored : err) || store_drops(live, store, rc ? &ignored : err))
        rc = -1;
    tlp_sink_free(live->capture.sink);
    live->capture.sink = NULL;
    return rc;
}

uint64_t live_frames(const struct live *live)
{
    return live->capture.packets;
}

uint64_t live_damaged(const struct live *live)
{
    const uint64_t *n = live->capture.skipped;
    return n[NETTLP_MALFORMED] + n[NETTLP_SHORT] + n[NETTLP_TRUNCATED_HEADER] + n[NETTLP_BAD_DATAGRAM];
}

uint64_t live_dropped(const struct live *live)
{
    return live->dropped;
}
