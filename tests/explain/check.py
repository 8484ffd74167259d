#!/usr/bin/env python3
"""check.py CLEW NAME... [--level O1] [--schedules N] [--keep FOLDER]: is the story of a program right and complete?

Builds tests/explain/NAME.cpp (or a program of engine/), hunts for its failure, explains it, and compares with the header, which was written before:
a line of ROOT CAUSE must be told, the kind must be one of KIND, and each SAYS, an expression, must match. FLAGS are given to the compiler. Whether the line stands in the first two
sentences is printed. Its twin, built with -DFIXED, must survive N schedules.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ENGINE = HERE / "engine"
MAINS = {"closed_table", "kept_reference"}  # of the engine


def sources(name):
    if name not in MAINS:
        return [HERE / f"{name}.cpp"]
    return [ENGINE / f"{name}.cpp"] + [path for path in sorted(ENGINE.glob("*.cpp")) if path.stem not in MAINS]


def truth(source):
    """The lines of the cause as "file:line", the kinds, and what the text must say."""
    header = re.search(r"ROOT CAUSE:(.*); KIND: (.*)", source.read_text())
    lines = set(re.findall(r"[\w.]+:\d+", header.group(1)))
    return lines, header.group(2).split(" or "), re.findall(r"^// SAYS: (.*)$", source.read_text(), re.M)


def first_sentences(text):
    """The first line, and the first sentence of the rest."""
    first, _, rest = text.partition("\n")
    return first + " " + re.split(r"\.(?=\s+[A-Z]|\s*\n)", rest, maxsplit=1)[0]


def build(clew, name, flags, out, engine):
    """Translation units side by side. What programs of the engine share is compiled once, into the folder `engine`."""
    given = re.search(r"^// FLAGS: (.*)$", sources(name)[0].read_text(), re.M)
    extra = given.group(1).split() if given else []
    flags = [*flags, *extra]
    objects = []
    running = []
    for source in sources(name):
        shared = source.parent == ENGINE and source.stem not in MAINS
        objects.append(engine / f"{source.stem}{''.join(flags)}.o" if shared else out.with_name(f"{out.name}.{source.stem}.o"))
        if shared and objects[-1].exists():
            continue
        running.append(subprocess.Popen([clew, "c++", "-std=c++20", "-g", *flags, "-c", source, "-o", objects[-1]]))
        if len(running) == 2:
            running.pop(0).wait()
    for one in running:
        one.wait()
    subprocess.run([clew, "c++", *extra, *objects, "-pthread", "-o", out], check=True)


def check(clew, name, given, folder, engine):
    build(clew, name, [f"-{given.level}"], folder / name, engine)
    quiet = {"cwd": folder, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([clew, "hunt", "--seed", "1", "--time", "100", "--", f"./{name}"], **quiet)
    subprocess.run([clew, "isolate"], **quiet)
    with open(folder / "why.txt", "w") as output:
        subprocess.run([clew, "explain", "--json", "why.json"], **{**quiet, "stdout": output, "stderr": output})
    text = (folder / "why.txt").read_text()
    try:
        told = json.loads((folder / "why.json").read_text())
    except OSError:
        return ["not explained"], text, False
    lines, kinds, says = truth(sources(name)[0])
    wrong = []
    if told["kind"] not in kinds:
        wrong.append(f"kind {told['kind']}, not {' or '.join(kinds)}")
    named = lambda words: any(re.search(re.escape(line) + r"\b", words) for line in lines)
    if not named(text):
        wrong.append(f"none of {sorted(lines)} is told")
    flat = " ".join(text.split())
    wrong += [f"does not say: {one}" for one in says if not re.search(one, flat)]
    refuted = [step["at"]["line"] for step in told["story"] if step["main"] and step["confirmed"] == "refuted"]
    if refuted[1:]:
        wrong.append(f"steps that a test refutes are told: {refuted}")
    if given.schedules:
        build(clew, name, [f"-{given.level}", "-DFIXED"], folder / f"{name}.fixed", engine)
        twin = subprocess.run([clew, "hunt", "--seed", "1", "--schedules", str(given.schedules), "--", f"./{name}.fixed"],
                              cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if twin.returncode != 0:
            wrong.append(f"its fixed twin fails: {twin.stderr.splitlines()[:3]}")
    return wrong, text, named(first_sentences(text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clew")
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--level", default="O1")
    parser.add_argument("--schedules", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path)
    given = parser.parse_args()
    clew = pathlib.Path(given.clew).resolve()
    failed = 0
    engine = tempfile.TemporaryDirectory(prefix="engine.")
    for name in given.names:
        folder = given.keep.resolve() / name if given.keep else pathlib.Path(tempfile.mkdtemp(prefix="explain."))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        wrong, text, first = check(clew, name, given, folder, pathlib.Path(engine.name))
        failed += bool(wrong)
        print(f"{name}: {'; '.join(wrong) if wrong else 'right'}{'' if first else ' (not in the first two sentences)'}", flush=True)
        if wrong:
            print(text)
        if not given.keep:
            shutil.rmtree(folder)
    sys.exit(bool(failed))


main()
