#!/bin/sh
# The headers that policies of one's own need, one a line: models/own/own.h, what it includes, and the names of the
# program's functions. usage: own_headers.sh CC
echo models/own/own_names.h
"$1" -std=gnu17 -D_GNU_SOURCE -DOFFCHIP_OWN -I. -MM -x c models/own/own.h | tr ' ' '\n' | grep '\.h$'
