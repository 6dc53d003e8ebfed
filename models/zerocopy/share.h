/* share: how much of a GPU saturates a link, and when a block copy pays; closed forms.
 *
 * Source: Min 2022 (docs/papers.md), sections 3.3.4 (table 3.2) and 3.5, which compute in binary units: its GB are GiB
 * and its kB are KiB. Worked examples in share_test.c. */
#ifndef MODELS_ZEROCOPY_SHARE_H
#define MODELS_ZEROCOPY_SHARE_H

/* Requests that must be outstanding to keep `bytes_per_s` going: bytes_per_s / request_bytes x round_trip_s. */
double share_outstanding(double bytes_per_s, double request_bytes, double round_trip_s);

/* Share of the multiprocessors whose warps, one request each, make `outstanding` requests; whole: rounded up to whole
 * multiprocessors. */
double share_of_gpu(double outstanding, double warps_per_sm, double sms, int whole);

/* Bytes that the link moves in the time one block copy takes to set up: smaller items are better read one by one. */
double share_copy_break_even_bytes(double setup_s, double bytes_per_s);

#endif
