#include "cmd/info.h"

#include <math.h>
#include <stdlib.h>

#include "replay/uvm/actor_input.h"
#include "replay/uvm/uvm_gain.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/derived/recording.h"

static json_t *id(int64_t value)
{
    return value == RECORDING_ANY ? json_null() : json_integer(value);
}

/* Of a recording that cannot be loaded, why. -1 without memory. */
static int add(json_t **rows, struct store *store, struct recording of, struct err *err)
{
    struct uvm_recording recording;
    struct uvm_gain gain = {0};
    struct err why = {""};
    char said[256];
    bool loaded = uvm_recording_load(&recording, store, of, &why) == 0;
    if (!loaded && err_pass_memory(&why, err))
        return -1;
    if (loaded) {
        gain = uvm_gain_of(&recording);
        uvm_recording_release(&recording);
        if (!gain.kernel_ns)
            return 0;
    }
    const double most = uvm_gain_most(&gain);
    json_t *row = json_object();
    json_tree_put(&row, "process", id(of.process));
    json_tree_put(&row, "gpu", id(of.gpu));
    json_tree_put(&row, "kernel_ns", loaded ? json_integer(gain.kernel_ns) : json_null());
    json_tree_put(&row, "served_ns", loaded ? json_integer(gain.served_ns) : json_null());
    json_tree_put(&row, "gain_at_most_ratio", gain.whole && isfinite(most) ? json_tree_real(most) : json_null());
    json_tree_put(&row, "said", json_tree_text(loaded ? uvm_gain_say(&gain, said, sizeof said) : why.msg));
    json_tree_add(rows, row);
    return 0;
}

int info_gain_json(struct store *store, json_t **root, struct err *err)
{
    if (uvm_stored(store) != UVM_STORED_RECORDING)
        return 0;
    struct recordings *recordings = mem_zalloc(1, sizeof *recordings, err);
    if (!recordings || recordings_find(recordings, store, err)) {
        free(recordings);
        return -1;
    }
    json_t *rows = json_array();
    int rc = recordings->count ? 0 : add(&rows, store, (struct recording){RECORDING_ANY, RECORDING_ANY}, err);
    for (size_t i = 0; i < recordings->count && !rc; i++)
        rc = add(&rows, store, recordings->items[i], err);
    if (!rc && (!rows || json_array_size(rows)))
        json_tree_put(root, "fault_service", json_incref(rows));
    json_decref(rows);
    free(recordings);
    return rc;
}
