"""The network of yolov2.cfg (darknet, 608 x 608, one image): its layers' arrays and kernels, as a task to be placed.

From darknet's public sources: what make_*_layer() allocates on either side, what forward_*_layer_gpu() launches. Each
convolution is unrolled before its product, those of 1 x 1 too (so it was until 2018-05). Without cuDNN; fills of gradients,
which a forward pass makes too where they are allocated, are not counted: 180 kernels."""
import os
import re


def table():
    """The layers, from the program's own table (trace/workloads/ml/yolov2.c): ("c", filters, side[, "linear"]) a convolution,
    "p" maximum over 2 x 2, ("r", layers..) put together, "o" 2 x 2 to channels, "g" the region layer."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "trace", "workloads", "ml", "yolov2.c"), encoding="ascii") as f:
        text = f.read()
    text = re.sub(r"/\*.*?\*/", "", text[text.index("table[YOLOV2_LAYERS] = {") + 24:], flags=re.S)
    out = []
    for name, numbers in re.findall(r"([A-Z]+)(?:\(([-0-9, ]+)\))?,?\s*", text[:text.index("};")]):
        numbers = [int(n) for n in numbers.split(",")] if numbers else []
        out.append({"CONV": ("c", *numbers), "LINEAR": ("c", *numbers, "linear"), "ROUTE": ("r", *[n for n in numbers if n >= 0]), "MAXIMUM": "p", "REORG": "o", "REGION": "g"}[name])
    assert len(out) == 32
    return out


LAYERS = table()
ANCHORS = 5


def layers(side=608):
    """For each layer: kind, bytes on both sides, FLOP, kernels, bytes that its kernels touch; and the workspace."""
    h, c, shapes, out, workspace = side, 3, [], [], 0
    for layer in LAYERS:
        kind = layer[0]
        if kind == "c":
            n, k = layer[1], layer[2]
            norm, weights, outputs, unrolled, inputs = len(layer) == 3, layer[1] * c * k * k, layer[1] * h * h, h * h * k * k * c, h * h * c
            size = 4 * (2 * weights + 2 * outputs + (2 * outputs + 8 * n if norm else 0) + 2 * n)
            touched = 4 * ((inputs + unrolled) + (weights + unrolled + outputs) + outputs + (4 if norm else 2) * outputs)
            out.append((kind, size, 2 * outputs * c * k * k, 7 if norm else 5, touched))
            workspace, c = max(workspace, 4 * unrolled), n
        else:
            if kind == "p":
                h //= 2
            elif kind == "o":
                h, c = h // 2, 4 * c
            elif kind == "r":
                h, c = shapes[layer[1]][0], sum(shapes[j][1] for j in layer[1:])
            outputs = h * h * c
            kernels = {"p": 1, "o": 1, "r": len(layer) - 1, "g": 2 + 2 * ANCHORS}[kind]
            touched = 4 * outputs * {"p": 6, "o": 2, "r": 2, "g": 4}[kind]
            out.append((kind, 4 * outputs * (3 if kind == "p" else 2), 0, kernels, touched))
        shapes.append((h, c))
    return out, workspace


def totals(side=608):
    rows, workspace = layers(side)
    both = sum(r[1] for r in rows)
    return {"both": both, "workspace": workspace, "flop": sum(r[2] for r in rows), "kernels": sum(r[3] for r in rows), "touched": sum(r[4] for r in rows), "input": 4 * 3 * side * side, "output": 4 * 425 * (side // 32) ** 2}


def by_layer(gflops, efficiency):
    """A section for each layer: its arrays copied there, its kernels, its share of the FLOP."""
    return "\n".join(f"[layer-{i}]\nbytes_hd = {r[1]}\ncopies = {dict(c=16, p=3).get(r[0], 2)}\nkernels = {r[3]}\ndirty_kernels = 1\ndirty_bytes = {r[1]}\n"
                     f"kernel_bytes = {r[4] // r[3]}\ncompute_ms = {r[2] / gflops / 1e6 / efficiency:.6f}\n" for i, r in enumerate(layers()[0]))


def task(name, gflops, low=0.3, high=0.9, source=None):
    """A section: the first frame, from load. gflops: the chip's peak; `low` to `high` of it is reached (assumed)."""
    t = totals()
    arrays = sum({"c": 16, "p": 3}.get(r[0], 2) for r in layers()[0])
    ms = t["flop"] / gflops / 1e6
    lines = [f"[{name}]", f"bytes_hd = {t['both'] + t['input']}", f"bytes_dh = {2 * t['output']}", f"copies = {arrays + 3}", f"kernels = {t['kernels']}",
             f"dirty_kernels = {len(LAYERS)}", f"dirty_bytes = {t['both'] + t['workspace'] + t['input']}", f"kernel_bytes = {t['touched'] // t['kernels']}", f"shared_bytes = {t['both'] + t['input']}", f"private_bytes = {t['workspace']}",
             f"compute_ms = {ms / high:.4f}..{ms / low:.4f}" if low != high else f"compute_ms = {ms / low:.4f}"]
    return "\n".join(lines + ([f"source_policy = {source}"] if source else [])) + "\n"
