"""What a row's numbers say: kinds and verdicts, and how they are printed and read back.

A verdict follows from the published cell and ours alone: an inequality or a wide range holds or does not; then the side of the
neutral value; then the bands. So a page's verdicts can be checked from the page (pages.py)."""
import re

BANDS = ((0.05, "within 5 %"), (0.10, "within 10 %"), (0.25, "within 25 %"))
ORDER = ("within 5 %", "within 10 %", "within 25 %", "holds", "same direction", "other side", "outside", "does not hold", "not covered", "not run")
NUMBERS = ("within 5 %", "within 10 %", "within 25 %", "same direction", "other side", "outside")
PLAIN = ("within 5 %", "within 10 %", "holds", "not run")  # need no reason
MISSES = ("same direction", "other side", "outside", "does not hold")
KINDS = ("prediction", "bound", "fit", "input", "definition")
APART = ", other reading"
HELD = ", held out"
TIGHT = 1.1  # ends of a published range that is compared as a number: within 5 % of its middle
FIGURE = r"-?[\d,]*\.?\d+(?:e[-+]?\d+)?"


def number(v):
    if v is None or isinstance(v, str):
        return v or ""
    if isinstance(v, bool):
        return "yes" if v else "no"
    if isinstance(v, int):
        return f"{v:,}"
    a = abs(v)
    return f"{v:,.0f}" if a >= 1000 else f"{v:.1f}" if a >= 100 else f"{v:.2f}" if a >= 1 else f"{v:.3g}"


def is_tight(low, high):
    return low * high > 0 and max(abs(low), abs(high)) <= TIGHT * min(abs(low), abs(high))


class Published:
    """What a source says: a number with a neutral value or without; a range; a relation and its bound; or a text."""

    def __init__(self, value=None, neutral=None, low=None, high=None, relation=None, unit=""):
        self.value, self.neutral, self.low, self.high, self.relation, self.unit = value, neutral, low, high, relation, unit

    @property
    def is_bound(self):
        """Holds or does not, without bands."""
        return self.relation is not None or (self.low is not None and not is_tight(self.low, self.high))

    def text(self):
        if isinstance(self.value, str):
            return self.value
        if self.relation:
            return f"{self.relation} {number(self.value)}{self.unit}"
        said = number(self.value) if self.low is None else f"{number(self.low)} to {number(self.high)}"
        middle = self.value if self.low is None else (self.low + self.high) / 2
        if self.neutral is not None and middle != self.neutral and not self.is_bound:
            said += f"{self.unit} ({'over' if middle > self.neutral else 'under'} {number(self.neutral)})"
        else:
            said += self.unit
        return said

    def judge(self, ours):
        """Verdict and ratio."""
        if self.relation:
            ok = {">": ours > self.value, ">=": ours >= self.value, "<": ours < self.value, "<=": ours <= self.value}[self.relation]
            return ("holds" if ok else "does not hold"), (f"{ours / self.value:.2f}" if self.value and not ok else "")
        if self.low is not None and self.low <= ours <= self.high:
            return ("holds" if self.is_bound else BANDS[0][1]), ""
        base = self.value if self.low is None else self.low if ours < self.low else self.high
        ratio = f"{ours / base:.2f}" if base else ""
        if self.is_bound:
            return "does not hold", ratio
        if self.neutral is not None and base != self.neutral and (ours - self.neutral) * (base - self.neutral) <= 0:
            return "other side", ratio
        for width, name in BANDS:
            if abs(ours / base - 1) <= width:
                return name, ratio
        return ("same direction" if self.neutral is not None else "outside"), ratio


def read(text):
    """A published cell back; None: a text."""
    value = lambda t: float(t.replace(",", ""))  # noqa: E731
    m = re.fullmatch(rf"(>=|<=|>|<) ({FIGURE})( %)?", text)
    if m:
        return Published(value(m[2]), relation=m[1])
    m = re.fullmatch(rf"({FIGURE})(?: to ({FIGURE}))?( %)?(?: \((over|under) ({FIGURE})\))?", text)
    if not m:
        return None
    neutral = value(m[5]) if m[5] else None
    return Published(None, neutral, value(m[1]), value(m[2])) if m[2] else Published(value(m[1]), neutral)


def roundings(text):
    """The numbers that print as this figure: its ends and middle."""
    m = re.match(FIGURE, text)
    plain = m[0].replace(",", "")
    v = float(plain)
    mantissa, _, power = plain.partition("e")
    half = 0.5 * 10.0 ** (int(power or 0) - (len(mantissa.partition(".")[2])))
    if "." not in plain and abs(v) < 1000:  # a whole number, or one that three figures end
        half = 0.0 if v == int(v) else half
    return (v - half, v, v + half)


def possible(published, ours):
    """The verdicts that rounding leaves open for two printed cells; None: a text, which only a statement's verdict fits."""
    p = read(published)
    if p is None or not re.match(FIGURE, ours):
        return None
    out = set()
    for o in roundings(ours):
        for shift in (-1, 0, 1):
            q = Published(p.value, p.neutral, p.low, p.high, p.relation)
            if shift and p.value is not None and p.relation is None:
                q.value = roundings(published)[1 + shift]
            out.add(q.judge(o)[0])
    return out
