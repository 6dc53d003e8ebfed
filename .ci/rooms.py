"""Folders include each other without a cycle and in one direction (cmd -> replay -> models -> trace). usage: rooms.py [--graph]"""
import glob
import os
import re
import sys

TOPS = ("trace", "models", "replay", "cmd")
APART = re.compile(r"_(test|fuzz|bench)\.c$|testing[^/]*\.h$")


def scan():
    """{folder: {other folder: "file includes file"}}"""
    edges = {}
    for path in sorted(p for top in TOPS for p in glob.glob(top + "/**/*.*", recursive=True)):
        if not re.search(r"\.(c|h|cu)$", path) or APART.search(path):
            continue
        with open(path, encoding="utf-8") as f:
            for included in re.findall(r'^\s*#\s*include "([^"]+)"', f.read(), re.M):
                folder, other = os.path.dirname(path), os.path.dirname(included)
                if other != folder:
                    edges.setdefault(folder, {}).setdefault(other, f"{path} includes {included}")
    return edges


def reached(edges, folder):
    """The folders that a folder includes, and those that they do."""
    found, waiting = set(), [folder]
    while waiting:
        for other in edges.get(waiting.pop(), ()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


edges = scan()
wrong = []
for folder, others in edges.items():
    for other, line in others.items():
        if folder in reached(edges, other):
            wrong.append(f"a cycle of folders: {line}")
        a, b = folder.split("/")[0], other.split("/")[0]
        if b in TOPS and TOPS.index(a) < TOPS.index(b):
            wrong.append(f"{a}/ may not include {b}/: {line}")
    if "--graph" in sys.argv:
        print(f"{folder}:", " ".join(sorted(others)))
for line in wrong:
    print("lint:", line)
sys.exit(1 if wrong else 0)
