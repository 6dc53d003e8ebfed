/* cmd_record_check: `offchip record --check`, what this machine has for recording, what is missing, and how to get it.
 */
#ifndef CMD_CMD_RECORD_CHECK_H
#define CMD_CMD_RECORD_CHECK_H

/* program: what is to be recorded, may be NULL. Returns an exit status: 0 if unified memory can be recorded. */
int cmd_record_check(const char *program);

#endif
