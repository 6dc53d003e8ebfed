#!/usr/bin/env python3
"""make check-html: the HTML pages of report and compare in a real browser, headless Chromium driven by chromedriver over HTTP.

usage: html.py PROGRAM. Results of all four engines, one of hostile names and a decision are made and looked at: no console
message, no request to the network, the answers are those of --format json, filters, sorting, keyboard, phone, print, dark
scheme. Exit 0 with a message where Chromium is not installed."""
import base64
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
         '--disable-background-networking', '--disable-component-update', '--disable-sync']
HOSTILE = '</script><script>alert(1)</script>'
IMAGE = '"><img src=x onerror="document.title=\'broken\'">'
NAME = '"><img src=x onerror="document.title=1">.db'
UNITS = {'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9, 'B': 1, 'KiB': 2**10, 'MiB': 2**20, 'GiB': 2**30}
DRAWN = 'i => i.src.startsWith("data:image/svg+xml") && i.complete && i.naturalWidth > 0 && i.alt'


class Browser:
    def __init__(self, chromium, driver):
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            self.port = s.getsockname()[1]
        self.profile = tempfile.mkdtemp(prefix='offchip-browser-')
        self.driver = subprocess.Popen([driver, '--port=%d' % self.port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = ''
        for _ in range(200):
            try:
                if self.call('GET', '/status')['ready']:
                    break
            except OSError:
                pass
            time.sleep(0.1)
        options = {'binary': chromium, 'args': FLAGS + ['--user-data-dir=' + self.profile]}
        caps = {'goog:chromeOptions': options, 'goog:loggingPrefs': {'browser': 'ALL', 'performance': 'ALL'}}
        self.session = '/session/' + self.call('POST', '/session', {'capabilities': {'alwaysMatch': caps}})['sessionId']

    def close(self):
        try:
            self.call('DELETE', '')
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request('http://127.0.0.1:%d%s%s' % (self.port, self.session, path), data, method=method,
                                         headers={'Content-Type': 'application/json'})
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return json.load(reply)['value']
        except urllib.error.HTTPError as e:
            raise RuntimeError(json.load(e)['value']['message'].splitlines()[0]) from e

    def log(self, kind):
        return self.call('POST', '/se/log', {'type': kind})

    def open(self, path, width=1280, mobile=False):
        """A page, with nothing on its console and nothing asked of the network."""
        self.cdp('Emulation.setDeviceMetricsOverride', width=width, height=900, deviceScaleFactor=1, mobile=mobile)
        self.log('performance')
        self.log('browser')
        self.call('POST', '/url', {'url': 'file://' + os.path.abspath(path)})
        name, said = os.path.basename(path), self.log('browser')
        check(name + ': nothing on the console', not said, said)
        messages = [json.loads(m['message'])['message'] for m in self.log('performance')]
        asked = [m['params']['request']['url'] for m in messages if m['method'] == 'Network.requestWillBeSent']
        check(name + ': nothing asked of the network', asked and all(u.startswith(('file://', 'data:')) for u in asked), asked)
        wide = self.js('return document.documentElement.scrollWidth')
        check('%s: no wider than %d px' % (name, width), wide <= width, wide)

    def js(self, script, *args):
        return self.call('POST', '/execute/sync', {'script': script, 'args': list(args)})

    def cdp(self, command, **params):
        return self.call('POST', '/goog/cdp/execute', {'cmd': command, 'params': params})

    def click(self, css):
        self.js('document.querySelector(arguments[0]).click()', css)

    def choose(self, css, value):
        self.js('const e = document.querySelector(arguments[0]); e.value = arguments[1]; for (const n of ["input", "change"]) e.dispatchEvent(new Event(n, { bubbles: true }))', css, value)

    def texts(self, css):
        return self.js('return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)', css)

    def print(self):
        self.cdp('Emulation.clearDeviceMetricsOverride')
        pdf = base64.b64decode(self.call('POST', '/print', {}))
        check('print: a PDF', pdf.startswith(b'%PDF') and len(pdf) > 20000, len(pdf))


passed = failed = 0


def check(claim, truth, found=''):
    global passed, failed
    passed += bool(truth)
    failed += not truth
    print('%s %s%s' % ('ok  ' if truth else 'FAIL', claim, '' if truth else ': found %r' % (found,)))


def make(run, path):
    """Pages of real runs of every engine, of hostile names, of a decision; what the first and the last must say."""
    run('sweep', 'uvm', 'synth:bicg,bytes=32MiB', 'synth:fdtd2d,bytes=32MiB', 'synth:nw,bytes=32MiB', '--policy',
        'tree,fixed:granularity=4KiB,fixed:granularity=2MiB,adaptive', '--grid', 'oversubscription_pct=0|125', '-o', path('u.db'))
    run('sweep', 'zerocopy', 'synth:bfs,graph=kron,scale=12', 'synth:bfs,graph=urand,scale=12', '--policy', 'naive,merged,aligned,uvm', '-o', path('z.db'))
    run('sweep', 'dram', '--mem', 'synth:gpu-g6,cycles=4000', '--pim', 'synth:pim-add,ops=400', '--pim', 'synth:pim-copy,ops=400',
        '--policy', 'fcfs,frfcfs,mem-first,f3fs', '-o', path('d.db'))
    run('replay', 'placement', 'fixtures/tasks/table4.ini', '--policy', 'device,managed,pinned,auto', '-o', path('p.db'))
    hostile = json.loads(run('replay', 'uvm', 'synth:bicg,bytes=8MiB', '--policy', 'tree,adaptive', '--format', 'json'))
    hostile.update(input='synth:' + HOSTILE, platform=IMAGE)
    hostile['settings'][HOSTILE] = IMAGE
    hostile['runs'][0]['policy'] = IMAGE
    hostile['runs'][1].update(policy="'" + HOSTILE, notes=[HOSTILE, IMAGE])
    with open(path('h.json'), 'w') as f:
        json.dump(hostile, f)
    run('report', *[path(n) for n in ('u.db', 'z.db', 'd.db', 'p.db')], '--html', path('report.html'))
    run('report', path('u.db'), path('h.json'), '--html', path('hostile.html'))
    decision = ['compare', 'synth:bfs,scale=12,roots=1', '--platform', 'h200', '--robust', '8']
    run(*decision, '--html', path('decision.html'))
    run('synth', 'triad,bytes=1MiB', '-o', path(NAME))
    run('compare', path(NAME), '--platform', 'h200', '--html', path('hostile-decision.html'))
    return {n: json.loads(run('report', path(n), '--no-best', '--format', 'json'))['rows'] for n in ('u.db', 'd.db')}, json.loads(run(*decision, '--format', 'json'))


def best_of(rows, keys, value, error=0):
    """Policies of each case that none beats by more than the error of the engine, from the table of `report`."""
    cases = {}
    for row in rows:
        cases.setdefault(tuple(row[k] for k in keys), []).append(row)
    return {case: [r['policy'] for r in sorted(members, key=value, reverse=True) if (top := max(map(value, members))) - value(r) <= error * abs(top)] for case, members in cases.items()}


def managed_error():
    """Of unified memory on machines without rows of their own (docs/accuracy.md)."""
    return float(re.search(r'"all", "managed", ([\d.]+)', open('replay/run/measured_errors.h').read())[1])


def answers(b, css):
    return b.js('''return [...document.querySelectorAll(arguments[0] + " table.answers tbody tr:not(.detail)")].map(
        tr => [...tr.children].map(td => td.textContent))''', css)


def report(b, page, rows):
    b.open(page)
    check('a section for each engine', b.texts('section h2') == ['uvm', 'zerocopy', 'dram', 'placement'], b.texts('section h2'))
    best = {'uvm': best_of(rows['u.db'], ('workload', 'oversubscription_pct'), lambda r: -r['time_ns'], managed_error()), 'dram': best_of(rows['d.db'], ('pim',), lambda r: r['system_throughput'] or -1)}
    for engine, real in best.items():
        keys = len(next(iter(real)))
        shown = {tuple(a[:keys]): a[keys].split(' or ') for a in answers(b, '#engine-' + engine)}
        check(engine + ': the answers are those of the table', shown == real, (shown, real))
    top = b.js('return document.querySelector("#engine-uvm table.answers").getBoundingClientRect().top')
    check('the answers are on the first screen', top < 600, top)
    check('figures are SVG and drawn', b.js('return document.images.length > 5 && [...document.images].every(%s)' % DRAWN))
    for key, value in (('workload', 'bicg'), ('oversubscription_pct', '125')):
        b.choose('#engine-uvm select[data-key=%s]' % key, '=' + value)
    left = answers(b, '#engine-uvm')
    check('two clicks: one case is left, its best policy named', len(left) == 1 and left[0][2].split(' or ') == best['uvm']['bicg', '125'], left)
    check('two clicks: every policy of it has a bar', len(b.texts('#engine-uvm .bars .track')) == 4)
    b.open(page)
    column = 'return [...document.querySelectorAll("#engine-uvm table.all-runs tbody tr")].map(r => r.children[3].title)'
    times = sorted(r['time_ns'] for r in rows['u.db'])
    for want in (times[::-1], times):
        b.click('#engine-uvm table.all-runs th:nth-child(4) button')
        found = [float(t) for t in b.js(column)]
        check('a click on time sorts, a second one turns the order', found == want, found)
    b.choose('#search', 'nw 125')
    check('words filter cases and runs', [a[:2] for a in answers(b, '#engine-uvm')] == [['nw', '125']] and len(b.js(column)) == 4, answers(b, '#engine-uvm'))


def media(b, page):
    b.open(page, 360, True)
    b.click('#engine-uvm .open')
    check('a case opens', len(b.texts('#engine-uvm .bars .track')) == 4 and b.js('return document.querySelector("#engine-uvm .open").tagName') == 'BUTTON')
    wide = b.js('return document.documentElement.scrollWidth')
    check('phone: no wider with a case open', wide <= 360, wide)
    b.cdp('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark'}])
    light = b.js('''const rgb = c => c.match(/\\d+/g).slice(0, 3).reduce((a, x) => a + Number(x), 0), s = getComputedStyle(document.body);
        return [rgb(s.backgroundColor), rgb(s.color)]''')
    check('dark scheme: light on dark', light[0] < 150 < 500 < light[1], light)
    b.cdp('Emulation.setEmulatedMedia', features=[], media='print')
    check('print: no controls', b.js('return [...document.querySelectorAll(".controls")].every(e => e.offsetHeight === 0)'))
    b.cdp('Emulation.setEmulatedMedia', media='')
    b.open(page)
    b.print()


def hostile_names(b, page):
    b.open(page)
    check('hostile names: no element of theirs', b.js('return document.scripts.length === 2 && !document.querySelector("img[src=x]") && document.title === "offchip report"'))
    text = b.js('return document.body.innerText')
    check('hostile names: shown as text', HOSTILE in text and IMAGE in text)
    b.choose('#search', '</script>')
    check('hostile names: found by search', len(answers(b, '#engine-uvm')) == 1, answers(b, '#engine-uvm'))
    check('hostile names: their notes as text', any(HOSTILE in t for t in b.texts('.notes li')), b.texts('.notes li'))


def near(text, expected):
    """Whether '242 .. 331 us' are these numbers; 'n/a' is none."""
    found, expected = [float(n) * UNITS[u] for n, u in re.findall(r'([\d.]+) (\w+)', re.sub(r'([\d.]+) [.]. ([\d.]+) (\w+)', r'\1 \3 \2 \3', text))], [e for e in expected if e is not None]
    return len(found) == len(expected) and all(abs(f - e) <= 0.006 * abs(e) for f, e in zip(found, expected))


def decision(b, page, hostile, said):
    ends = lambda row, metric: row['interval'].get(metric, [row['metrics'][metric]])
    for width in (360, 1400):
        b.open(page, width, width < 500)
        shown = b.js('''return [...document.querySelectorAll("#rows tbody tr")].map(tr => [tr.children[0].textContent,
            Object.fromEntries([...tr.children].slice(1).map(td => [td.dataset.label, td.textContent]))])''')
        check('%d px: a row for each mechanism, in order' % width, [r[0] for r in shown] == ['%s (%s)' % (r['mechanism'], r['policy']) for r in said['rows']], shown)
        wrong = [(row, label) for (_, row), real in zip(shown, said['rows']) for label, metric in (('time', 'time_ns'), ('to the GPU', 'h2d_bytes'), ('to the host', 'd2h_bytes'))
                 if not near(row[label], ends(real, metric))]
        check('%d px: values are those of the table' % width, not wrong, wrong)
    best, heading = said['rows'][0], b.texts('h1')[0]
    check('the answer stands first', heading == said['answer'], heading)
    check('how to have it, as the table says', b.texts('#apply h3 + ol:first-of-type li') == best['apply'], b.texts('#apply ol:first-of-type li'))
    check('figures are SVG and drawn', b.js('return document.images.length >= 2 && [...document.images].every(%s)' % DRAWN))
    check('no script', b.js('return document.scripts.length') == 0)
    b.print()
    b.open(hostile)
    check('hostile name: shown as text, no element', b.js('return !document.querySelector("img[src=x]") && document.title !== "1"') and NAME in b.js('return document.body.innerText'))


def main():
    chromium, driver = shutil.which('chromium') or shutil.which('google-chrome'), shutil.which('chromedriver')
    if not chromium or not driver:
        print('check-html: skipped: no chromium and chromedriver here (Debian packages chromium and chromium-driver)')
        return 0
    with tempfile.TemporaryDirectory(prefix='offchip-html-') as folder:
        path = lambda name: os.path.join(folder, name)
        rows, said = make(lambda *args: subprocess.run([sys.argv[1], args[0], '-q', *args[1:]], check=True, capture_output=True, text=True).stdout, path)
        b = Browser(chromium, driver)
        try:
            report(b, path('report.html'), rows)
            media(b, path('report.html'))
            hostile_names(b, path('hostile.html'))
            decision(b, path('decision.html'), path('hostile-decision.html'), said)
        finally:
            b.close()
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
