"""The rooms of the house: no include cycle between folders, no folder of more than LIMIT product .c files, and
dependencies in one direction (cmd -> replay -> models -> trace). usage: rooms.py [--graph]"""
import os
import re
import sys

TOPS = ("trace", "models", "replay", "cmd")
LIMIT = 25
APART = re.compile(r"_(test|fuzz|bench)\.c$|/testing[^/]*\.h$|_testing\.h$|/fuzzing\.h$")


def sources():
    for top in TOPS:
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                if re.search(r"\.(c|h|cu)$", name) and not APART.search(path):
                    yield path


def scan():
    """({folder: {other folder: ["file includes file"]}}, {folder: number of .c files})"""
    edges, sizes = {}, {}
    for path in sources():
        folder = os.path.dirname(path)
        sizes[folder] = sizes.get(folder, 0) + path.endswith(".c")
        for included in re.findall(r'^\s*#\s*include "([^"]+)"', open(path, encoding="utf-8").read(), re.M):
            other = os.path.dirname(included)
            if other != folder:
                edges.setdefault(folder, {}).setdefault(other, []).append(f"{path} includes {included}")
    return edges, sizes


def components(edges):
    """Strongly connected folders (Tarjan)."""
    index, low, stack, on, found = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in sorted(edges.get(v, {})):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = []
            while True:
                w = stack.pop()
                on.discard(w)
                part.append(w)
                if w == v:
                    break
            if len(part) > 1:
                found.append(sorted(part))

    for v in sorted(edges):
        if v not in index:
            visit(v)
    return found


def main():
    edges, sizes = scan()
    bad = 0
    for part in components(edges):
        bad = 1
        print("lint: folders that include each other:", ", ".join(part))
        for a in part:
            for b in part:
                for line in edges.get(a, {}).get(b, [])[:4]:
                    print("   ", line)
    for folder, n in sorted(sizes.items()):
        if n > LIMIT:
            bad = 1
            print(f"lint: {folder}/ holds {n} product .c files; at most {LIMIT}")
    for folder, others in edges.items():
        for other, lines in others.items():
            a, b = folder.split("/")[0], other.split("/")[0]
            if b in TOPS and TOPS.index(a) < TOPS.index(b):
                bad = 1
                print(f"lint: {a}/ may not include {b}/: {lines[0]}")
    if "--graph" in sys.argv:
        for folder in sorted(sizes):
            print(f"{folder} ({sizes[folder]}):", " ".join(sorted(edges.get(folder, {}))))
    return bad


sys.exit(main())
