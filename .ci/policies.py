"""A JSON array of flat objects on stdin as a Markdown table on stdout."""
import json
import sys

rows = json.load(sys.stdin)
if rows:
    keys = list(rows[0])
    print("| " + " | ".join(keys) + " |")
    print("|" + " --- |" * len(keys))
    for row in rows:
        print("| " + " | ".join(str(row[k] or "").replace("|", "\\|") for k in keys) + " |")
