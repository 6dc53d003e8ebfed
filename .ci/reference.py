"""A JSON array of objects of texts and of arrays of texts on stdin as a Markdown table on stdout."""
import json
import sys

rows = json.load(sys.stdin)
if rows:
    keys = list(rows[0])
    print("| " + " | ".join(keys) + " |")
    print("|" + " --- |" * len(keys))
    for row in rows:
        cells = (" ".join(row[k]) if isinstance(row[k], list) else str(row[k] or "") for k in keys)
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
