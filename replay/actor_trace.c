#include "replay/actor_trace.h"
struct actor_trace *actor_trace_open(struct store *store, struct err *err)
{
    (void)store;
    err_set(err, "todo");
    return 0;
}
void actor_trace_close(struct actor_trace *trace)
{
    (void)trace;
}
const struct actor_ops actor_trace_ops;
