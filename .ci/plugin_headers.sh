#!/bin/sh
# The headers that policies of one's own need, one a line: models/plugin/plugin.h and what it includes.
# usage: plugin_headers.sh CC
"$1" -std=gnu17 -D_GNU_SOURCE -DOFFCHIP_PLUGIN -I. -MM -x c models/plugin/plugin.h | tr ' ' '\n' | grep '\.h$'
