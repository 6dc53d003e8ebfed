"""The page of `offchip compare --html` as a person reads it: part of `make check-html` (html.py)."""
import base64
import json
import os
import re
import subprocess

UNITS = {'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9, 'B': 1, 'KiB': 2**10, 'MiB': 2**20, 'GiB': 2**30}
PROGRAM = ['synth:bfs,scale=12,roots=1', '--platform', 'h200']
NAME = '"><img src=x onerror="document.title=1">.db'

# Of each row of a table: its name, and each value with its rectangle, its row's and its label's: of the column's head,
# or of what stands before it where the heads are not shown.
CELLS = '''const rect = e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
return [...document.querySelectorAll(arguments[0] + " tbody tr")].map(tr => {
    const heads = [...tr.closest("table").querySelectorAll("thead th")];
    return { name: tr.children[0].textContent, place: rect(tr.children[0]), cells: [...tr.children].slice(1).map((td, i) => ({
        label: td.dataset.label, text: td.textContent, place: rect(td), head: heads[i + 1].textContent, over: rect(heads[i + 1]),
        before: getComputedStyle(td, "::before").content, shown: heads[i + 1].offsetHeight > 0 })) }; });'''


def make(program, folder):
    def run(*args):
        return subprocess.run([program, *args], check=True, capture_output=True, text=True).stdout
    page, hostile = os.path.join(folder, 'decision.html'), os.path.join(folder, 'hostile-decision.html')
    run('compare', '-q', *PROGRAM, '--robust', '8', '--html', page)
    answers = json.loads(run('compare', '-q', *PROGRAM, '--robust', '8', '--format', 'json'))
    run('synth', '-q', 'triad,bytes=1MiB', '-o', os.path.join(folder, NAME))
    run('compare', '-q', os.path.join(folder, NAME), '--platform', 'h200', '--html', hostile)
    return page, hostile, answers


def value(text):
    """'242 us to 331 us' -> [242000.0, 331000.0]; 'n/a' -> []"""
    return [float(n) * UNITS[u] for n, u in re.findall(r'([\d.]+) (\w+)', text)]


def near(found, expected):
    return len(found) == len(expected) and all(abs(f - e) <= 0.006 * abs(e) for f, e in zip(found, expected))


def beside(row, cell):
    """Whether a value stands beside its name: in the name's line and under the column's head, or behind its label."""
    left, top, right, bottom = cell['place']
    middle = (top + bottom) / 2
    if cell['shown']:
        over = cell['over']
        return row['place'][1] <= middle <= row['place'][3] and over[0] - 1 <= left and right <= over[2] + 1 and \
            cell['head'] == cell['label']
    return cell['before'] == '"%s"' % cell['label'] and top >= row['place'][3] - 1


def values(b, check, width, answers):
    rows = b.js(CELLS, '#why')
    expected = answers['rows']
    names = ['%s (%s)' % (r['mechanism'], r['policy']) for r in expected]
    check('%d px: a row for each mechanism, in order' % width, [r['name'] for r in rows] == names, [r['name'] for r in rows])
    wrong = []
    for row, real in zip(rows, expected):
        shown = {c['label']: c['text'] for c in row['cells']}
        for label, metric in (('time', 'time_ns'), ('to the GPU', 'h2d_bytes'), ('to the host', 'd2h_bytes'), ('GPU memory', 'gpu_bytes')):
            ends = real['interval'].get(metric, [real['metrics'][metric]])
            if not near(value(shown[label]), [e for e in ends if e is not None]):
                wrong.append((row['name'], label, shown[label], ends))
    check('%d px: values are those of the table' % width, not wrong, wrong)
    apart = [(r['name'], c) for r in rows for c in r['cells'] if not beside(r, c)]
    check('%d px: values stand beside their names' % width, not apart, apart[:2])
    outside = [(r['name'], c['label']) for r in rows for c in r['cells'] if c['place'][0] < 0 or c['place'][2] > width]
    check('%d px: none outside' % width, not outside, outside)
    wins = {r['name']: r['cells'][0]['text'] for r in b.js(CELLS, '#sure')}
    real = {n: '%d of %d' % (r['robust']['wins'], r['robust']['draws']) for n, r in zip(names, expected) if 'robust' in r}
    check('%d px: wins are those of the draws' % width, wins == real and len(real) > 1, (wins, real))


def run(b, check, quiet_and_alone, page, hostile, answers, folder):
    for width in (360, 800, 1400):
        b.size(width, 900, 1, width < 500)
        b.open(page)
        quiet_and_alone(b, 'decision, %d px' % width)
        wide = b.js('return document.documentElement.scrollWidth')
        check('%d px: no wider than the screen' % width, wide <= width, wide)
        values(b, check, width, answers)
        b.shot(os.path.join(folder, 'decision-%d.png' % width), 9000)
    best = answers['rows'][0]
    heading = b.texts('h1')[0]
    check('the answer stands first, with its time', '(%s)' % best['policy'] in heading and
          near(value(heading), best['interval'].get('time_ns', [best['metrics']['time_ns']])), heading)
    check('how to have it, as the table says', b.texts('#apply h3 + ol:first-of-type li') == best['apply'], b.texts('#apply ol:first-of-type li'))
    order = b.texts('h2')
    check('sections in order', order == ['How sure', 'Why', 'How to have it', 'Everything else'], order)
    check('figures are SVG and drawn', b.js('''return [...document.images].length >= 2 && [...document.images].every(
        i => i.src.startsWith("data:image/svg+xml") && i.complete && i.naturalWidth > 0 && i.alt)'''))
    check('no script', b.js('return document.scripts.length') == 0)
    pdf = base64.b64decode(b.call('POST', '/print', {}))
    with open(os.path.join(folder, 'decision.pdf'), 'wb') as f:
        f.write(pdf)
    check('print: a PDF', pdf.startswith(b'%PDF') and len(pdf) > 20000, len(pdf))
    b.cdp('Emulation.setEmulatedVisionDeficiency', type='achromatopsia')
    b.shot(os.path.join(folder, 'decision-grey.png'), 9000)
    b.cdp('Emulation.setEmulatedVisionDeficiency', type='none')
    b.open(hostile)
    quiet_and_alone(b, 'decision, hostile name')
    check('hostile name: no element of its own', b.js('return !document.querySelector("img[src=x]") && document.title !== "1"'))
    check('hostile name: shown as text', NAME in b.js('return document.body.innerText'))
