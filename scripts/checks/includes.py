#!/usr/bin/env python3
"""The order of includes between folders, as includes.rules states it."""
import fnmatch
import os
import re
import subprocess
import sys

RULES = os.path.relpath(os.path.join(os.path.dirname(__file__), "includes.rules"))
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)


class Rules:
    def __init__(self):
        self.top, self.order, self.only, self.exceptions, self.tests = {}, {}, [], {}, []
        for number, line in enumerate(open(RULES), 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            word, rest = line.split(None, 1)
            if word == "except":
                self.exceptions[tuple(rest.split())] = number
                continue
            if word == "tests":
                self.tests = rest.split()
                continue
            name, values = rest.split(":")
            if word == "from":
                self.top[name] = values.split()
            elif word == "order":
                self.order[name] = values.split()
            elif word == "only":
                self.only.append((name, values.split()))
            else:
                sys.exit(f"{RULES}:{number}: unknown rule '{word}'")


def below(path, folder):
    return path.startswith(folder + "/")


def target_folder(header, directory):
    """The folder of the header, from the root of the tree."""
    if header.startswith("clew_abi/"):
        return "abi/clew_abi"
    return os.path.dirname(header) or directory


def part_of(folder, top):
    return os.path.relpath(folder, top).split("/")[0]


def refusal(rules, directory, folder):
    """Why a file in `directory` may not include `folder`, or None."""
    own, other = directory.split("/")[0], folder.split("/")[0]
    if own != other:
        return None if other in rules.top[own] else f"{own}/ may not include {other}/"
    order = rules.order.get(own)
    if not order:
        return None
    parts = [part_of(directory, own), part_of(folder, own)]
    for part in parts:
        if part not in order:
            return f"{own}/{part} has no place in the order of {own}/"
    if order.index(parts[1]) > order.index(parts[0]):
        return f"{own}/{parts[1]} comes after {own}/{parts[0]}"
    return None


def order_in_readme(folder):
    """The rows of the table, which name a folder each; the first may be the folder itself."""
    rows = re.findall(r"^\| (?:`([\w]+)/`|\(this one\)) \|", open(f"{folder}/README.md").read(), re.M)
    return [row or "." for row in rows]


def main():
    rules = Rules()
    errors, used = [], set()
    for folder, order in rules.order.items():
        stated = order_in_readme(folder)
        if [f for f in order if f != "."] != [f for f in stated if f != "."]:
            errors.append(f"{folder}/README.md has another order than {RULES}: {' '.join(stated)}")
    files = subprocess.run(["git", "ls-files"] + list(rules.top), capture_output=True, text=True,
                           check=True).stdout.split()
    files = [f for f in files if f.endswith((".h", ".cc", ".c", ".S", ".def")) and os.path.exists(f)]
    if not files:
        sys.exit("includes: no files")
    for path in files:
        if any(fnmatch.fnmatch(path, pattern) for pattern in rules.tests):
            continue
        text = open(path).read()
        for match in INCLUDE.finditer(text):
            quoted, system = match.groups()
            at = f"{path}:{text.count(chr(10), 0, match.start(1 if quoted else 2)) + 1}"
            header = quoted or system
            for prefix, folders in rules.only:
                if header.startswith(prefix) and not any(below(path, f) for f in folders):
                    errors.append(f"{at}: <{header}> belongs to {', '.join(folders)}")
            if system or header.startswith("llvm/"):
                continue
            folder = target_folder(header, os.path.dirname(path))
            why = refusal(rules, os.path.dirname(path), folder)
            if why and (path, folder) in rules.exceptions:
                used.add((path, folder))
            elif why:
                errors.append(f"{at}: {header}: {why}")
    for exception, number in rules.exceptions.items():
        if exception not in used:
            errors.append(f"{RULES}:{number}: this exception is not needed any more: remove it")
    print("\n".join(errors) or f"{len(files)} files, {len(used)} exceptions")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
