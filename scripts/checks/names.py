#!/usr/bin/env python3
"""No comment and no document names a file or a symbol that is not in the tree.

Looked up are, in comments and in *.md: files (foo.h, host/foo/bar.cc), folders of the tree (host/foo/), and symbols whose
spelling shows that they are meant as such: kFoo, FooBar, Foo::bar, foo_bar(). names.allow lists those of other projects."""
import os
import re
import subprocess
import sys

ALLOW = os.path.relpath(os.path.join(os.path.dirname(__file__), "names.allow"))
TOP = "abi|pass|runtime|host|cli|tests|bench|docs|scripts|examples|include|cmake"
C_LIKE = (".h", ".cc", ".c", ".cpp", ".S", ".def")
# A comment, or a literal, which may contain what looks like one.
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.S)
PARAMETER = re.compile(r"/\*\w+=\*/")  # the name of an argument
FILE = re.compile(r"(?<![\w./<$-])((?:[\w-]+/)*[\w-]+\.(?:h|cc|cpp|c|S|def|md|sh|py|txt|cmake|rules))(?![\w/.*])")
FOLDER = re.compile(rf"(?<![\w./<$-])((?:{TOP})(?:/[\w-]+)*)/(?![\w*$<{{\[])")
SYMBOL = re.compile(r"(?<![\w.:/$-])(k[A-Z]\w+|[A-Z]\w*(?:::\w+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[a-z]\w*_\w+(?=\(\)))(?![\w/])")


def tracked():
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                           capture_output=True, text=True, check=True).stdout.split()
    return [n for n in names if os.path.exists(n)]


def split(text):
    """Comments as (offset, text), and the rest as one string."""
    comments, code, end = [], [], 0
    for match in TOKEN.finditer(text):
        if not match.group().startswith("/"):
            continue
        if not PARAMETER.fullmatch(match.group()):
            comments.append((match.start(), match.group()))
        code.append(text[end:match.start()])
        end = match.end()
    return comments, "".join(code) + text[end:]


def prose_of(path, text):
    if path.endswith(".md"):
        return [(0, text)]
    if path.endswith(C_LIKE):
        return split(text)[0]
    return [(m.start(), m.group()) for m in re.finditer(r"(?:^|\s)#[^\n]*", text)]


class Tree:
    def __init__(self, paths, texts):
        self.paths = set(paths)
        self.folders = {os.path.dirname(p)[:n] for p in paths
                        for n in [len(os.path.dirname(p))] + [m.start() for m in re.finditer("/", os.path.dirname(p))]}
        self.base = {os.path.basename(p) for p in paths}
        self.words = set()
        for path in paths:
            code = split(texts[path])[1] if path.endswith(C_LIKE) else ""
            self.words.update(re.findall(r"\w+", code))

    def has_file(self, name, path):
        here = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if "/" not in name:
            return name in self.base
        return any(p in self.paths for p in (name, here, "abi/" + name, "include/" + name)) or any(
            p.endswith("/" + name) for p in self.paths)

    def has_symbol(self, name):
        return all(word in self.words for word in name.split("::"))


def main():
    allowed = set(open(ALLOW).read().split("# end of reasons\n")[-1].split())
    used = set()
    paths = [p for p in tracked() if p != "LICENSE"]
    texts = {p: open(p, errors="replace").read() for p in paths}
    tree = Tree(paths, texts)
    errors = []

    def look_up(path, offset, name, found):
        if found:
            return
        if name in allowed or name.split("::")[0] in allowed:
            used.add(name if name in allowed else name.split("::")[0])
            return
        line = texts[path].count("\n", 0, offset) + 1
        errors.append(f"{path}:{line}: {name} is not in the tree")

    for path in paths:
        if path.startswith("tests/pass/traces/"):  # its comments are what run_trace.sh expects
            continue
        for start, prose in prose_of(path, texts[path]):
            for match in FILE.finditer(prose):
                look_up(path, start + match.start(1), match.group(1), tree.has_file(match.group(1), path))
            for match in FOLDER.finditer(prose):
                look_up(path, start + match.start(1), match.group(1) + "/", match.group(1) in tree.folders)
            for match in SYMBOL.finditer(prose):
                look_up(path, start + match.start(1), match.group(1), tree.has_symbol(match.group(1)))
    for name in sorted(allowed - used):
        errors.append(f"{ALLOW}: {name} is not needed any more: remove it")
    print("\n".join(errors) or f"{len(paths)} files, {len(allowed)} names of other projects")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
