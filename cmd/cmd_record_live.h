/* cmd_record_live: `offchip record --interface IF`, PCIe packets from a network interface until ^C. */
#ifndef CMD_CMD_RECORD_LIVE_H
#define CMD_CMD_RECORD_LIVE_H

#include <stdbool.h>

struct record_live {
    const char *interface, *output;
    const char *tlp_offset, *ports, *adapter; /* as given, or NULL */
    bool force;
};

/* Record until SIGINT, SIGTERM or SIGHUP, or until the interface goes away. Returns an exit status. */
int cmd_record_live(const struct record_live *live);

#endif
