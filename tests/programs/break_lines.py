#!/usr/bin/env python3
"""Where a debugger stops at a function: the same line in clew's build as in clang's own.

usage: break_lines.py CLEW CLANG LLVM_BIN SOURCE FLAG...

Builds SOURCE with both compilers at -O0 and -O1 and compares, for every function that both have, the line of the
table's `prologue_end`, and for the functions of SOURCE itself the line at which gdb puts a breakpoint. Exits with 1 if
one differs at -O0, or too many at -O1, or nothing was compared.
"""

import bisect
import os
import re
import subprocess
import sys
import tempfile
from collections import namedtuple

Row = namedtuple("Row", "address line file is_stmt prologue_end end")
ROW = re.compile(r"^0x([0-9a-f]{16})\s+(\d+)\s+\d+\s+(\d+)\s+\d+\s+\d+\s+\d+\s*(.*)$")
NAME = re.compile(r'^\s*name: (?:"(.*)"|.*= "(.*)")$')


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def rows_of(binary, llvm):
    """The table's rows in order of addresses. Files are named by the last part of their path."""
    rows, files = [], {}
    for line in output_of(f"{llvm}/llvm-dwarfdump", "--debug-line", binary).splitlines():
        if line.startswith("debug_line["):
            files = {}
        elif line.startswith("file_names["):
            number = int(line[len("file_names[") :].split("]")[0])
        elif (name := NAME.match(line)) and line.lstrip().startswith("name:"):
            files[number] = os.path.basename(name[1] or name[2])
        elif row := ROW.match(line):
            flags = row[4].split()
            rows.append(
                Row(
                    int(row[1], 16),
                    int(row[2]),
                    files.get(int(row[3]), row[3]),
                    "is_stmt" in flags,
                    "prologue_end" in flags,
                    "end_sequence" in flags,
                )
            )
    return sorted(rows, key=lambda row: row.address)


def functions_of(binary, llvm):
    """(name, begin, end) of every function."""
    for line in output_of(f"{llvm}/llvm-nm", "--defined-only", "-S", binary).splitlines():
        parts = line.split()
        if len(parts) == 4 and parts[2] in "tTwW":
            begin = int(parts[0], 16)
            yield parts[3], begin, begin + int(parts[1], 16)


def prologue_end(rows):
    return next(((row.file, row.line) for row in rows if row.prologue_end), None)


def stops(binary, llvm):
    rows = rows_of(binary, llvm)
    addresses = [row.address for row in rows]
    result = {}
    for name, begin, end in functions_of(binary, llvm):
        inside = [row for row in rows[bisect.bisect_left(addresses, begin) : bisect.bisect_left(addresses, end)] if not row.end]
        if inside:
            result[name] = prologue_end(inside)
    return result


GDB_SCRIPT = """
import gdb, os
for binary in BINARIES:
    gdb.execute("file " + binary, to_string=True)
    for name in NAMES:
        try:
            gdb.Breakpoint(function=name, source=SOURCE)
        except gdb.error:
            continue  # inlined, or not of this file
        for breakpoint in gdb.breakpoints():
            lines = sorted(set(f"{os.path.basename(place.source[0])}:{place.source[1]}" for place in breakpoint.locations if place.source))
            print("STOP", binary, name, *lines)
            breakpoint.delete()
"""


def gdb_stops(binaries, names, source, folder):
    """For each binary, the lines at which gdb stops at each function."""
    with open(f"{folder}/script.py", "w", encoding="utf-8") as script:
        script.write(f"BINARIES = {binaries!r}\nNAMES = {names!r}\nSOURCE = {source!r}\n" + GDB_SCRIPT)
    result = {binary: {} for binary in binaries}
    for line in output_of("gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-x", script.name).splitlines():
        if line.startswith("STOP "):
            _, binary, name, *lines = line.split()
            result[binary][name] = lines
    return result


def compare(what, own, ours):
    """The number of differences, which are printed."""
    different = [name for name in sorted(own.keys() & ours.keys()) if own[name] != ours[name]]
    for name in different:
        print(f"{name}: {what} is at {ours[name]} and not at {own[name]}")
    return len(different)


# At -O1 the optimiser orders instructions around points as it likes: of the functions of one program, this many may
# begin elsewhere. Measured on the failing programs of the list: 0 to 2, and at most one in ten in the larger ones.
MOST_AT_O1 = 2
SHARE_AT_O1 = 0.1
# At -O0 none of the program's own, and of those in headers of the library at most this share (measured: 3 of 1,665).
SHARE_AT_O0 = 0.005


def main():
    clew, clang, llvm, source, *flags = sys.argv[1:]
    cxx = not source.endswith(".c")
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        for level in "-O0", "-O1":
            # The last -O and the last -g count.
            options = ["-pthread", *flags, level, "-gdwarf-5", source, "-o"]
            binaries = [f"{folder}/clang{level}", f"{folder}/clew{level}"]
            # <clew/clew.h> means nothing in the other build.
            include = ["-idirafter", os.path.join(os.path.dirname(os.path.dirname(clew)), "include")]
            subprocess.run([clang, *([] if cxx else ["-x", "c"]), *include, *options, binaries[0]], check=True)
            subprocess.run([clew, "c++" if cxx else "cc", *options, binaries[1]], check=True)
            own, ours = (stops(binary, llvm) for binary in binaries)
            # Without what the compiler itself makes of the file, as __cxx_global_var_init.
            names = [name for name in own
                     if own[name] and own[name][0] == os.path.basename(source) and not name.startswith("__")]
            by_gdb = gdb_stops(binaries, names, source, folder)
            compared = len(own.keys() & ours.keys())
            different = compare(f"{level} prologue_end", own, ours)
            own_different = sum(own[name] != ours.get(name, own[name]) for name in names)
            different_in_gdb = compare(f"{level} gdb's breakpoint", *by_gdb.values())
            print(f"{level}: {compared} functions compared, {different} differ, and {different_in_gdb} in gdb")
            if level == "-O1":
                good = max(different, different_in_gdb) <= max(MOST_AT_O1, SHARE_AT_O1 * compared)
            else:
                # A program may consist of a file that it includes: then gdb finds nothing in this one.
                found = [bool(lines) for lines in by_gdb.values()]
                good = own_different + different_in_gdb == 0 and found[0] == found[1] and different <= SHARE_AT_O0 * compared
            if not good or compared == 0:
                status = 1
    return status


sys.exit(main())
