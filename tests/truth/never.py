#!/usr/bin/env python3
"""Programs on which a sentence must not be printed (never/*.cpp).

    never.py CLEW [PROGRAM]...

The comment at the top of each says what is run ("clew:"), what the report must contain, so that the
program is what it was meant to be ("shows:"), and what it must not contain ("never:"). Expressions
are matched with the report without its line breaks.
"""
import os
import re
import subprocess
import sys
import tempfile

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'never')


def directives(path):
    with open(path) as file:
        return [line[3:].rstrip('\n').split(': ', 1) for line in file
                if re.match(r'// (clew|shows|never): ', line)]


def check(clew, path, folder):
    binary = os.path.join(folder, os.path.basename(path)[:-len('.cpp')])
    subprocess.run([clew, 'c++', '-g', '-O0', '-pthread', path, '-o', binary], check=True)
    wanted = directives(path)
    command = next(text for word, text in wanted if word == 'clew').split()
    run = subprocess.run([clew] + command + [binary], cwd=folder, text=True, timeout=60,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    report = ' '.join(run.stdout.split())
    problems = []
    for word, text in wanted:
        found = re.search(text, report)
        if word == 'shows' and not found:
            problems.append(f'the report does not contain "{text}"')
        if word == 'never' and found:
            problems.append(f'"{found.group(0)}" ({text})')
    if problems:
        print(run.stdout)
    for problem in problems:
        print(f'FAILED {os.path.basename(path)}: {problem}')
    return not problems


def main():
    clew = os.path.abspath(sys.argv[1])
    programs = sys.argv[2:] or sorted(os.path.join(FOLDER, name) for name in os.listdir(FOLDER))
    with tempfile.TemporaryDirectory(prefix='clew_never_') as folder:
        good = [check(clew, path, folder) for path in programs]
    print(f'{sum(good)} of {len(good)} programs are as they should be')
    sys.exit(0 if all(good) else 1)


if __name__ == '__main__':
    main()
