#!/usr/bin/env python3
"""clang-tidy with the checks of .clang-tidy, over the files that changed last, as far as SECONDS reach; 0: over all files.

All files take minutes. What was clean stays so until it or a header changes, and is not looked at again: the folder
build/tidy keeps a file for each, named by the hash of all that counts. Usage: tidy.py SECONDS"""
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys
import time

TIDY = "clang-tidy-19"
DATABASE = "build/compile_commands.json"
CLEAN = "build/tidy"


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout.split("\n")


def newest_first(paths):
    changed = [line[3:] for line in git("status", "--porcelain")]
    order = {}
    for path in changed + git("log", "--format=", "--name-only"):
        order.setdefault(path, len(order))
    return sorted(paths, key=lambda path: (order.get(path, len(order)), path))


def without_precompiled_header(command):
    """A precompiled header is there only after a build."""
    words, skip = [], 0
    for i, word in enumerate(command):
        if skip:
            skip -= 1
        elif command[i:i + 2] in (["-Xclang", "-include-pch"], ["-Xclang", "-include"]):
            skip = 3
        else:
            words.append(word)
    return words


def read_database():
    """Writes the database that clang-tidy reads, and gives the files in it."""
    entries = {}
    for entry in json.load(open(DATABASE)):
        path = os.path.relpath(entry["file"])
        if path.endswith(".cc") and not path.startswith(".."):
            command = without_precompiled_header(shlex.split(entry["command"]))
            entries[path] = {"directory": entry["directory"], "file": entry["file"], "arguments": command}
    os.makedirs(CLEAN, exist_ok=True)
    json.dump(list(entries.values()), open(f"{CLEAN}/compile_commands.json", "w"))
    return entries


def hash_of(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def main():
    seconds = float(sys.argv[1])
    if not os.path.exists(DATABASE):
        print(f"skipped: there is no {DATABASE} (scripts/setup --tests makes it)")
        return 0
    entries = read_database()
    headers = [open(p).read() for p in sorted(git("ls-files", "*.h", "*.def", ".clang-tidy")) if p and os.path.exists(p)]
    common = hash_of(*headers)
    stamps = {p: f"{CLEAN}/" + hash_of(common, open(p).read(), *entries[p]["arguments"]) for p in entries}
    paths = [p for p in newest_first(entries) if not os.path.exists(stamps[p])]
    begin = time.monotonic()
    bad, left = [], []

    def check(path):
        if seconds and time.monotonic() - begin > seconds:
            left.append(path)
            return
        done = subprocess.run([TIDY, "-quiet", "-p", CLEAN, path], capture_output=True, text=True)
        if done.returncode == 0:
            open(stamps[path], "w").close()
        else:
            bad.append(done.stdout or done.stderr)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(check, paths))
    print("\n".join(bad) + f"{len(entries) - len(left) - len(bad)} of {len(entries)} files clean, {len(bad)} not")
    if left:
        print(f"skipped: {len(left)} files, those whose last change is longest ago: {seconds:g} s were over "
              "(scripts/check --all looks at all)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
