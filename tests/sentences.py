"""Print a random sample of the project's sentences, to be read by a person.

``make sentences`` prints 200 sentences from the README, the guides, the changelog and the
docstrings, comments and messages in ``src``; ``make sentences SEED=7`` draws others. A sample
shows how the text reads without its context and points to patterns that occur elsewhere.
"""

import argparse
import ast
import io
import random
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Pages that commands or Sphinx write: they are corrected where they are generated.
GENERATED = {"benchmarks", "_build", "gallery", "api", "changelog.md", "contributing.md",
             "architecture.md", "command_reference.md"}  # fmt: skip
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md")
SECTION = re.compile(r"^\s*(-{3,}|={3,})\s*$")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\"\[])")
MIN_WORDS = 4
MIN_MESSAGE_WORDS = 7


def main() -> None:
    """Print the sample that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-n", type=int, default=200, help="number of sentences")
    options = parser.parse_args()
    found = sorted({*markdown_sentences(), *python_sentences()})
    sample = random.Random(options.seed).sample(found, min(options.n, len(found)))
    for path, line, sentence in sorted(sample):
        print(f"{path}:{line}: {sentence}")


def markdown_sentences() -> Iterator[tuple[str, int, str]]:
    """Yield file, line and sentence from the pages at the root and the guides."""
    guides = sorted((ROOT / "docs").rglob("*.md"))
    kept = [p for p in guides if not GENERATED & set(p.relative_to(ROOT).parts)]
    for path in [*(ROOT / name for name in PAGES), *kept]:
        text = re.sub(r"```.*?```", blank_lines, path.read_text("utf-8"), flags=re.DOTALL)
        yield from sentences(path, text, first_line=1)


def python_sentences() -> Iterator[tuple[str, int, str]]:
    """Yield file, line and sentence from docstrings, comments and messages in ``src``."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        source = path.read_text("utf-8")
        tree = ast.parse(source)
        docstrings = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node, clean=False)
                if text is not None:
                    docstring = node.body[0]
                    docstrings.add(docstring.lineno)
                    yield from sentences(path, text, first_line=docstring.lineno)
        yield from messages(path, tree, docstrings)
        yield from comments(path, source)


def messages(path: Path, tree: ast.Module, docstrings: set[int]) -> Iterator[tuple[str, int, str]]:
    """Yield string literals long enough to be sentences; ``{}`` stands for inserted values."""
    inside = {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
            text = "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = "" if id(node) in inside or node.lineno in docstrings else node.value
        else:
            continue
        if len(text.split()) >= MIN_MESSAGE_WORDS:
            yield str(path.relative_to(ROOT)), node.lineno, " ".join(text.split())


def comments(path: Path, source: str) -> Iterator[tuple[str, int, str]]:
    """Yield the sentences of comments; comments on consecutive lines are read as one."""
    blocks: list[tuple[int, list[str]]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or re.match(r"#\s*(noqa|type:|pragma)", token.string):
            continue
        line, words = token.start[0], token.string.lstrip("#: ")
        if blocks and blocks[-1][0] + len(blocks[-1][1]) == line:
            blocks[-1][1].append(words)
        else:
            blocks.append((line, [words]))
    for line, lines in blocks:
        yield from sentences(path, "\n".join(lines), first_line=line)


def sentences(path: Path, text: str, *, first_line: int) -> Iterator[tuple[str, int, str]]:
    """Split `text` into paragraphs and entries, and these into sentences."""
    paragraph: list[str] = []
    start = first_line
    for line, content in enumerate([*text.split("\n"), ""], start=first_line):
        stripped = content.strip()
        is_entry = stripped.startswith(("- ", "* ", "| ", "#")) or " : " in stripped
        is_code = stripped.startswith((">>>", "..."))
        if not stripped or is_entry or is_code or SECTION.match(content):
            for sentence in SENTENCE_END.split(" ".join(paragraph)):
                if len(re.findall(r"[a-z]{2,}", sentence)) >= MIN_WORDS:
                    yield str(path.relative_to(ROOT)), start, sentence
            paragraph = []
        is_parameter = is_entry and stripped[0] not in "-*|#"
        if stripped and not (is_code or is_parameter or SECTION.match(content)):
            start = start if paragraph else line
            paragraph.append(stripped)


def blank_lines(match: re.Match[str]) -> str:
    """Replace a block of code by as many empty lines."""
    return "\n" * match.group().count("\n")


if __name__ == "__main__":
    main()
