#!/usr/bin/env python3
"""make check-html: the HTML report in a real browser, headless Chromium driven by chromedriver over HTTP.

usage: html.py PROGRAM [FOLDER]. Results of all four engines and one of hostile names are made, reported and looked at:
no console message, no request to the network, the answers are those of `report --format json`, the best policy of a
workload in two clicks, sorting, filters, keyboard, phone, print, dark scheme; then the page of a decision (html_decision.py). Screenshots are left in FOLDER. Exit 0
with a message where Chromium is not installed."""
import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import html_decision

FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
         '--disable-background-networking', '--disable-component-update', '--disable-sync']
HOSTILE = '</script><script>alert(1)</script>'
IMAGE = '"><img src=x onerror="document.title=\'broken\'">'


class Browser:
    def __init__(self, chromium, driver):
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            self.port = s.getsockname()[1]
        self.profile = tempfile.mkdtemp(prefix='offchip-browser-')
        self.driver = subprocess.Popen([driver, '--port=%d' % self.port], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
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
        answer = self.call('POST', '/session', {'capabilities': {'alwaysMatch': caps}})
        self.session = '/session/' + answer['sessionId']

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

    def open(self, path):
        self.log('performance')
        self.log('browser')
        self.call('POST', '/url', {'url': 'file://' + os.path.abspath(path)})

    def log(self, kind):
        return self.call('POST', '/se/log', {'type': kind})

    def js(self, script, *args):
        return self.call('POST', '/execute/sync', {'script': script, 'args': list(args)})

    def cdp(self, command, **params):
        return self.call('POST', '/goog/cdp/execute', {'cmd': command, 'params': params})

    def find(self, css):
        return list(self.call('POST', '/element', {'using': 'css selector', 'value': css}).values())[0]

    def click(self, css):
        self.call('POST', '/element/%s/click' % self.find(css), {})

    def type(self, css, text):
        element = self.find(css)
        self.call('POST', '/element/%s/clear' % element, {})
        self.call('POST', '/element/%s/value' % element, {'text': text})

    def texts(self, css):
        return self.js('return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)', css)

    def requests(self):
        """Every address asked for since open()."""
        messages = [json.loads(m['message'])['message'] for m in self.log('performance')]
        return [m['params']['request']['url'] for m in messages if m['method'] == 'Network.requestWillBeSent']

    def size(self, width, height, scale=1, mobile=False):
        self.cdp('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=scale, mobile=mobile)

    def shot(self, path, height):
        page = self.cdp('Page.getLayoutMetrics')['cssContentSize']
        clip = {'x': 0, 'y': 0, 'width': page['width'], 'height': min(page['height'], height), 'scale': 1}
        data = self.cdp('Page.captureScreenshot', captureBeyondViewport=True, clip=clip)['data']
        with open(path, 'wb') as f:
            f.write(base64.b64decode(data))


passed = failed = 0


def check(claim, truth, found=''):
    global passed, failed
    passed += bool(truth)
    failed += not truth
    print('%s %s%s' % ('ok  ' if truth else 'FAIL', claim, '' if truth else ': found %r' % (found,)))


def make_results(program, folder):
    """Real runs of every engine, small; a hostile one made from the first."""
    def run(*args):
        return subprocess.run([program, *args], check=True, capture_output=True, text=True).stdout
    path = lambda name: os.path.join(folder, name)
    run('sweep', '-q', 'uvm', 'synth:bicg,bytes=32MiB', 'synth:fdtd2d,bytes=32MiB', 'synth:nw,bytes=32MiB', '--policy',
        'tree,fixed:granularity=4KiB,fixed:granularity=2MiB,adaptive', '--grid', 'oversubscription_pct=0|125', '-o', path('u.db'))
    run('sweep', '-q', 'zerocopy', 'synth:bfs,graph=kron,scale=12', 'synth:bfs,graph=urand,scale=12', '--policy',
        'naive,merged,aligned,uvm', '-o', path('z.db'))
    run('sweep', '-q', 'dram', '--mem', 'synth:gpu-g6,cycles=4000', '--pim', 'synth:pim-add,ops=400', '--pim',
        'synth:pim-copy,ops=400', '--policy', 'fcfs,frfcfs,mem-first,f3fs', '-o', path('d.db'))
    run('replay', '-q', 'placement', 'fixtures/tasks/table4.ini', '--policy', 'device,managed,pinned,auto', '-o', path('p.db'))
    hostile = json.loads(run('replay', '-q', 'uvm', 'synth:bicg,bytes=8MiB', '--policy', 'tree,adaptive', '--format', 'json'))
    hostile['input'] = 'synth:' + HOSTILE
    hostile['platform'] = IMAGE
    hostile['settings'][HOSTILE] = IMAGE
    hostile['runs'][0]['policy'] = IMAGE
    hostile['runs'][1]['policy'] = "'" + HOSTILE
    hostile['runs'][1]['notes'] = [HOSTILE, IMAGE]
    with open(path('h.json'), 'w') as f:
        json.dump(hostile, f)
    known = json.loads(run('replay', '-q', 'uvm', 'synth:bicg,bytes=8MiB', '--policy', 'tree,adaptive', '--format', 'json'))
    for r, time_ns, ends in zip(known['runs'], (1000, None), ({}, {'time_ns': [500, 2000]})):
        r['metrics']['time_ns'], r['interval'] = time_ns, ends
    with open(path('i.json'), 'w') as f:
        json.dump(known, f)
    run('report', '-q', path('i.json'), '--html', path('intervals.html'))
    good = [path(n) for n in ('u.db', 'z.db', 'd.db', 'p.db')]
    run('report', '-q', *good, '--html', path('report.html'))
    run('report', '-q', path('u.db'), path('h.json'), '--html', path('hostile.html'))
    rows = {n: json.loads(run('report', path(n), '--no-best', '--format', 'json'))['rows'] for n in ('u.db', 'd.db')}
    return path('report.html'), path('hostile.html'), rows


def best_of(rows, keys, value):
    """Best policies of each case, from the table of `report`."""
    cases = {}
    for row in rows:
        cases.setdefault(tuple(row[k] for k in keys), []).append(row)
    best = {}
    for case, members in cases.items():
        top = max(value(r) for r in members)
        best[case] = [r['policy'] for r in members if value(r) == top]
    return best


def quiet_and_alone(b, what):
    said = [m['message'] for m in b.log('browser')]
    check(what + ': nothing on the console', not said, said)
    requests = b.requests()
    asked = [u for u in requests if not u.startswith(('file://', 'data:'))]
    check(what + ': nothing asked of the network', not asked and any(u.startswith('file://') for u in requests), requests)


def answers(b, css):
    return b.js('''return [...document.querySelectorAll(arguments[0] + " table.answers tbody tr:not(.detail)")].map(
        tr => [...tr.children].map(td => td.textContent))''', css)


def look(b, page, rows, folder):
    b.size(1280, 900)
    b.open(page)
    quiet_and_alone(b, 'report')
    check('a section for each engine', b.texts('section h2') == ['uvm', 'zerocopy', 'dram', 'placement'], b.texts('section h2'))
    shown = {(a[0], a[1]): a[2].split(' or ') for a in answers(b, '#engine-uvm')}
    real = best_of(rows['u.db'], ('workload', 'oversubscription_pct'), lambda r: -r['time_ns'])
    check('uvm: the answers are those of the table', shown == real, (shown, real))
    shown = {a[0]: a[1].split(' or ') for a in answers(b, '#engine-dram')}
    real = best_of(rows['d.db'], ('pim',), lambda r: r['system_throughput'] or -1)
    check('dram: ranked by system throughput', shown == {k[0]: v for k, v in real.items()}, (shown, real))
    top = b.js('return document.querySelector("#engine-uvm table.answers").getBoundingClientRect().top')
    check('the answers are on the first screen', top < 600, top)
    check('figures are SVG and drawn', b.js('''return [...document.images].length > 5 && [...document.images].every(
        i => i.src.startsWith("data:image/svg+xml") && i.complete && i.naturalWidth > 0 && i.alt)'''))
    b.shot(os.path.join(folder, 'desktop.png'), 4000)
    return real


def two_clicks(b, rows):
    """Choosing workload, then memory, leaves one case with every policy of it in view."""
    def choose(key, value):
        b.click('#engine-uvm select[data-key=%s] option[value="=%s"]' % (key, value))
    choose('workload', 'bicg')
    choose('oversubscription_pct', '125')
    left = answers(b, '#engine-uvm')
    real = best_of(rows['u.db'], ('workload', 'oversubscription_pct'), lambda r: -r['time_ns'])[('bicg', '125')]
    check('two clicks: one case is left, its best policy named', len(left) == 1 and left[0][2].split(' or ') == real, left)
    check('two clicks: every policy of it has a bar', len(b.texts('#engine-uvm .bars .track')) == 4)
    b.click('#engine-uvm select[data-key="best by"] option:nth-child(2)')
    least = min((r for r in rows['u.db'] if r['workload'] == 'bicg' and r['oversubscription_pct'] == '125'),
                key=lambda r: r['h2d_bytes'])
    check('ranked by another metric', least['policy'] in answers(b, '#engine-uvm')[0][2].split(' or '), answers(b, '#engine-uvm'))
    b.click('#engine-uvm select[data-key="best by"] option:nth-child(1)')
    for key in ('workload', 'oversubscription_pct'):
        b.click('#engine-uvm select[data-key=%s] option:nth-child(1)' % key)
    check('the filters let go again', len(answers(b, '#engine-uvm')) == 6, len(answers(b, '#engine-uvm')))


def sort_and_filter(b, rows):
    column = 'return [...document.querySelectorAll("#engine-uvm table.all-runs tbody tr")].map(r => r.children[3].title)'
    head = '#engine-uvm table.all-runs th:nth-child(4) button'
    check('the fourth column is time', b.texts(head) == ['time'], b.texts(head))
    times = sorted(r['time_ns'] for r in rows['u.db'])
    b.click(head)
    found = [float(t) for t in b.js(column)]
    check('a click sorts, largest first', found == times[::-1], found)
    b.click(head)
    found = [float(t) for t in b.js(column)]
    check('a second click turns the order', found == times, found)
    check('the order is told to screen readers', b.js('return document.querySelector(arguments[0]).parentNode.ariaSort', head) == 'ascending')
    b.type('#search', 'nw 125')
    check('words filter cases', [a[:2] for a in answers(b, '#engine-uvm')] == [['nw', '125']], answers(b, '#engine-uvm'))
    check('words filter runs', len(b.js(column)) == 4, len(b.js(column)))
    b.type('#search', 'no such thing')
    check('no case: the page says so', '0 of 6 cases shown' in b.texts('#engine-uvm p'), b.texts('#engine-uvm p'))
    b.js('const s = document.querySelector("#search"); s.value = ""; s.dispatchEvent(new Event("input"))')


def keyboard(b):
    b.js('document.querySelector("#engine-uvm .open").focus()')
    b.call('POST', '/actions', {'actions': [{'type': 'key', 'id': 'k', 'actions': [
        {'type': 'keyDown', 'value': '\ue007'}, {'type': 'keyUp', 'value': '\ue007'}]}]})
    check('Enter opens a case', b.js('return document.activeElement.ariaExpanded') == 'true' and
          len(b.texts('#engine-uvm .bars .track')) == 4)
    b.js('document.body.tabIndex = -1; document.body.focus()')
    order = []
    for _ in range(12):
        b.call('POST', '/actions', {'actions': [{'type': 'key', 'id': 'k', 'actions': [
            {'type': 'keyDown', 'value': '\ue004'}, {'type': 'keyUp', 'value': '\ue004'}]}]})
        order.append(b.js('return document.activeElement.tagName'))
    check('Tab reaches links, search, choices and heads', {'A', 'INPUT', 'SELECT', 'BUTTON'} <= set(order), order)
    check('the focus can be seen', b.js('return getComputedStyle(document.activeElement).outlineStyle') == 'solid')


def other_media(b, page, folder):
    b.cdp('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark'}])
    light = b.js('''const rgb = c => c.match(/\\d+/g).slice(0, 3).reduce((a, x) => a + Number(x), 0), s = getComputedStyle(document.body);
        return [rgb(s.backgroundColor), rgb(s.color)]''')
    check('dark scheme: light on dark', light[0] < 150 < 500 < light[1], light)
    b.shot(os.path.join(folder, 'dark.png'), 1400)
    b.cdp('Emulation.setEmulatedMedia', features=[])
    b.size(360, 740, 2, True)
    b.open(page)
    wide = b.js('return [document.documentElement.scrollWidth, innerWidth]')
    check('phone: no wider than the screen', wide[0] <= 360 and wide[1] == 360, wide)
    b.click('#engine-uvm .open')
    wide = b.js('return document.documentElement.scrollWidth')
    check('phone: nor with a case open', wide <= 360, wide)
    rows = b.js("""return [...document.querySelectorAll("#engine-uvm .bars .row")].map(r => [...r.children].map(
        e => { const q = e.getBoundingClientRect(); return [q.left, q.top, q.right, q.bottom]; }))""")
    apart = [r for r in rows if any(n[1] >= r[0][3] or n[3] <= r[0][1] for n in r[2:]) or r[1][1] < max(n[3] for n in r[2:]) - 1]
    check('phone: each number beside its policy, the bar below', len(rows) > 3 and not apart, apart or len(rows))
    b.shot(os.path.join(folder, 'phone.png'), 1800)
    b.cdp('Emulation.clearDeviceMetricsOverride')
    b.open(page)
    pdf = base64.b64decode(b.call('POST', '/print', {}))
    with open(os.path.join(folder, 'print.pdf'), 'wb') as f:
        f.write(pdf)
    check('print: a PDF', pdf.startswith(b'%PDF') and len(pdf) > 20000, len(pdf))
    b.cdp('Emulation.setEmulatedMedia', media='print')
    check('print: no controls', b.js('return [...document.querySelectorAll(".controls")].every(e => e.offsetHeight === 0)'))
    check('print: all runs are there', b.js('return [...document.querySelectorAll("details")].every(d => d.open)'))
    b.cdp('Emulation.setEmulatedMedia', media='')


def intervals(b, page, folder):
    """An interval is a line over its bar, from end to end: here 500 to 2000 beside 1000, of which less is better."""
    b.size(1280, 900)
    b.open(page)
    quiet_and_alone(b, 'intervals')
    found = b.js("""return [...document.querySelectorAll(".bars .track")].map(t => { const w = t.getBoundingClientRect();
        return [...t.children].map(e => { const q = e.getBoundingClientRect(); return [e.className, (q.left - w.left) / w.width, (q.right - w.left) / w.width]; }); })""")
    shown = {c[0]: c[1:] for track in found for c in track}
    check('intervals: one line, of half the best to twice', sum(len(t) == 2 for t in found) == 1 and
          abs(shown['range'][0] - 0.25) < 0.01 and abs(shown['range'][1] - 1) < 0.01 and abs(shown['bar top'][1] - 0.5) < 0.01, found)
    b.shot(os.path.join(folder, 'intervals.png'), 900)


def hostile_names(b, page):
    b.size(1280, 900)
    b.open(page)
    quiet_and_alone(b, 'hostile names')
    check('hostile names: no element of theirs', b.js('return document.scripts.length === 2 && !document.querySelector("img[src=x]") && document.title === "offchip report"'))
    text = b.js('return document.body.innerText')
    check('hostile names: shown as text', HOSTILE in text and IMAGE in text)
    b.type('#search', '</script>')
    check('hostile names: found by search', len(answers(b, '#engine-uvm')) == 1, answers(b, '#engine-uvm'))
    check('hostile names: their notes as text', any(HOSTILE in t for t in b.texts('.notes li')), b.texts('.notes li'))


def main():
    program = sys.argv[1]
    chromium, driver = shutil.which('chromium') or shutil.which('google-chrome'), shutil.which('chromedriver')
    if not chromium or not driver:
        print('check-html: skipped: no chromium and chromedriver here (Debian packages chromium and chromium-driver)')
        return 0
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix='offchip-html-')
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    page, hostile, rows = make_results(program, folder)
    b = Browser(chromium, driver)
    try:
        look(b, page, rows, folder)
        two_clicks(b, rows)
        sort_and_filter(b, rows)
        keyboard(b)
        other_media(b, page, folder)
        intervals(b, page.replace("report.html", "intervals.html"), folder)
        hostile_names(b, hostile)
        html_decision.run(b, check, quiet_and_alone, *html_decision.make(program, folder), folder)
    finally:
        b.close()
    if len(sys.argv) <= 2:
        shutil.rmtree(folder)
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
