/* vtab_extension: table `records` for the sqlite3 shell, Python and whatever else loads SQLite extensions.
 *
 *     sqlite3 trace.db -cmd '.load build/offchip_records' 'SELECT kind, count(*) FROM records GROUP BY kind' */
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include "trace/store/sql.h"

/* The name that SQLite derives from the file's, offchip_records.so. */
__attribute__((visibility("default"))) int sqlite3_offchiprecords_init(sqlite3 *db, char **message,
                                                                       const sqlite3_api_routines *api);

int sqlite3_offchiprecords_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    (void)message;
    SQLITE_EXTENSION_INIT2(api);
    return vtab_register(db);
}
