"""make lint: no page is longer than .ci/page_words says, or reads harder than the worst of libCacheSim's and fio's docs.
usage: readable.py PAGE.. Limits measured with this file: long sentences in libCacheSim aa0fc40 (advanced_lib.md; its traceAnalyzer
page, lists without full stops, does not count), passive ones in fio f5344384 (README.rst), fillers in libCacheSim (README.md)."""
import re
import sys

LIMITS = {"% of sentences above 30 words": 6.4, "% of sentences passive": 31.6, "filler words a 1,000": 15.2}
FILLER = re.compile(r"\b(of (its|their) own|as such|so many|so much as|to be had|at hand|as far as|in which case|in order to|note that|of course|(that|those) of|of (it|them)|"
                    r"what (is|are|was|were|it|they|of|in|stands|has|have|a|the)|whatever|whoever|very|just|simply|basically|really|actually|please|obviously|clearly|quite)\b", re.I)
PASSIVE = re.compile(r"\b(is|are|was|were|be|been|being|gets?|got)\s+(\w+ly\s+|(not|never|also|then|only|still)\s+)?(\w{2,}ed|known|seen|taken|given|made|done|found|held|kept|left|lost|"
                     r"meant|read|run|said|sent|set|shown|told|thrown|written|built|bought|brought|chosen|drawn|driven|put|paid|cut|split|hidden|spent|begun|counted)\b", re.I)


def sentences(text, rst):
    """Prose alone, each sentence with its count of words: no code, tables, headings; a code span is one word."""
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[*+-]|\d+\.)\s)|\n(?=#)", re.sub(r"<!--.*?-->", "", text, flags=re.S)):
        if rst or not re.match(r"(    |\t)(?!\s*([*+-]|\d+\.)\s)", block):
            lines = (line.strip() for line in block.split("\n") if not re.match(r"\s*(\||\.\. |\[!|!\[)|#|[=~-]+$", line))
            prose = re.sub(r"(\d)[.,](\d)", r"\1\2", re.sub(r"`+[^`]*`+", "CODE", re.sub(r"\]\([^)]*\)", "]", re.sub(r"^([*+-]|\d+\.)\s+", "", " ".join(lines)))))
            parts = re.split(r"(?<=[.!?])[\"')\]]*\s+", re.sub(r"\b(e\.g|i\.e|vs|cf|etc|Fig|Sec|al)\.", r"\1", prose))
            yield from ((n, part) for part in parts for n in [len(re.findall(r"[A-Za-z0-9][\w'/.%-]*", part))] if n >= 3)


bad, caps = False, {page: int(words) for words, page in (line.split() for line in open(".ci/page_words", encoding="utf-8"))}
for page in sys.argv[1:]:
    text = re.sub(r"^(```|~~~).*?^\1[^\n]*$", "\n\n", open(page, encoding="utf-8").read(), flags=re.M | re.S)
    parts = list(sentences(text, page.endswith(".rst")))
    shown = [p for n, p in parts if n > 30], [p for _, p in parts if PASSIVE.search(p)], [p for _, p in parts for _ in FILLER.findall(p)]
    of = max(1, len(parts)) / 100, max(1, len(parts)) / 100, max(1, sum(n for n, _ in parts)) / 1000
    wrong = [(len(s) / n, what, s) for s, n, what in zip(shown, of, LIMITS) if len(parts) > 10 and round(len(s) / n, 1) > LIMITS[what]]
    words = sum(bool(re.search("[A-Za-z]", word)) for word in text.split())
    wrong += [(words, f"words, .ci/page_words says at most {caps.get(page, 0)}", ["take away what says least"])] if "CHANGELOG" not in page and words > caps.get(page, 0) else []
    for value, what, s in wrong:
        print(f"lint: {page}: {value:.1f} {what}:", *s, sep="\n  ")
    bad |= bool(wrong)
sys.exit(bad)
