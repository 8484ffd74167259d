#!/usr/bin/env python3
"""Compares what clew says about generated programs with the truth about them.

    check.py CLEW BRUTE_FORCE [--programs N] [--first SEED] [--most RUNS] [--keep FOLDER]
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import claims
import generate
import model
import truth as truths

BATCH = 20  # programs in one file of C++


def prepare(seed):
    """A program with its checks, and what the model says of it."""
    for attempt in range(20):
        program = generate.draw(seed * 1000 + attempt)
        name = f'p{seed}'
        _, threads, main = generate.Emitter(program, name).emit()
        try:
            outcomes, seen = model.Model(threads, main).explore(probing=True)
        except model.TooLarge:
            continue
        rng = random.Random(seed * 7919 + attempt)
        choose_checks(program, seen, rng)
        lines, threads, main = generate.Emitter(program, name).emit()
        checked, _ = model.Model(threads, main).explore()
        fails = [o for o in checked if not o.startswith('exit')]
        # Those without a failure are rarer than those with one, and there are some.
        if fails or rng.random() < 0.3:
            return name, lines, outcomes, checked
    return None


def choose_checks(program, seen, rng):
    several = [n for n, values in seen.items() if isinstance(n, int) and len(values) > 1]
    all_of_them = [n for n in seen if isinstance(n, int)]
    program.checks = {}
    if several and rng.random() < 0.9:
        for number in rng.sample(several, min(len(several), rng.choice([1, 1, 2]))):
            values = sorted(seen[number], key=str)
            program.checks[number] = ('!=', rng.choice(values))
    elif all_of_them:
        number = rng.choice(all_of_them)
        program.checks[number] = ('!=', 77)


class Session:
    def __init__(self, options, folder):
        self.o = options
        self.folder = folder
        self.verdicts = claims.Verdicts()
        self.programs = 0
        self.failing = 0

    def build(self, seeds):
        prepared = [p for p in (prepare(seed) for seed in seeds) if p]
        for name, lines, _, _ in prepared:
            with open(f'{self.folder}/{name}.cpp', 'w') as file:
                file.write('\n'.join(lines) + '\n')
        with open(f'{self.folder}/all_{seeds[0]}.cpp', 'w') as file:
            file.write(generate.translation_unit([p[0] for p in prepared]))
        binary = f'{self.folder}/all_{seeds[0]}'
        # The model knows nothing of an optimiser.
        self.optimised = seeds[0] // BATCH % 3 == 2
        level = '-O1' if self.optimised else '-O0'
        subprocess.run([self.o.clew, 'c++', '-g', level, '-pthread', binary + '.cpp', '-o', binary],
                       check=True)
        return binary, prepared

    def clew(self, arguments, folder):
        return subprocess.run([self.o.clew] + arguments, cwd=folder, text=True, timeout=120,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)

    def check_model(self, binary, name, outcomes, v):
        """What the runtime can do is what the model can do."""
        probe = truths.Truth(self.o.brute_force, self.o.most, [binary, name, 'probe'])
        probe.close()
        reached = set()
        for run in probe.runs:
            reached.add(f'exit {int(run.kind[4:]) - 1}' if run.kind.startswith('exit') else run.kind)
        v.claim('model: what clew reaches can happen', reached <= set(outcomes),
                f'{sorted(reached - set(outcomes))} of {sorted(outcomes)}')
        expected = {o for o, cost in outcomes.items() if probe.within(cost)}
        v.claim('model: what can happen is reached by clew', expected <= reached,
                f'{[(o, outcomes[o]) for o in sorted(expected - reached)]} not in {sorted(reached)}')

    def check(self, binary, name, outcomes, checked):
        v = claims.Verdicts()
        folder = f'{self.folder}/{name}'
        os.mkdir(folder)
        if not self.optimised:
            self.check_model(binary, name, outcomes, v)
        truth = truths.Truth(self.o.brute_force, self.o.most, [binary, name])
        seed = int(name[1:])
        bound = seed % 4
        run = self.clew(['hunt', '--strategy', 'exhaustive', '--keep-going', '--bound', str(bound), '--time', '20',
                         '--json', 'exhaustive.json', binary, name], folder)
        with open(f'{folder}/exhaustive.json') as file:
            claims.check_exhaustive(truth, run.stdout + run.stderr, json.load(file), bound, v)
        shutil.rmtree(f'{folder}/.clew', ignore_errors=True)
        run = self.clew(['debug', '--seed', str(seed), '--time', '10', '--json', 'debug.json', binary, name], folder)
        with open(f'{folder}/debug.txt', 'w') as file:
            file.write(run.stdout + run.stderr)
        with open(f'{folder}/debug.json') as file:
            found = json.load(file)
        if found['isolate']:
            self.failing += 1
            claims.IsolateChecker(truth, run.stdout, found['isolate'], folder, v).check()
            run = self.clew(['isolate', str(found['hunt']['failing']), '--json', 'isolate.json'], folder)
            with open(f'{folder}/isolate.txt', 'w') as file:
                file.write(run.stdout + run.stderr)
            with open(f'{folder}/isolate.json') as file:
                claims.IsolateChecker(truth, run.stdout, json.load(file), folder, v).check()
        truth.close()
        self.programs += 1
        self.verdicts.add(v, name)
        if not v.false and not self.o.keep:
            shutil.rmtree(folder)
        return v


def table(session):
    v = session.verdicts
    lines = [f'{session.programs} programs, {session.failing} of them isolated', '',
             f'{"claims":>8} {"false":>6}  kind']
    for kind in sorted(v.made):
        lines.append(f'{v.made[kind]:8} {len(v.false[kind]):6}  {kind}')
    lines.append(f'{sum(v.made.values()):8} {sum(len(f) for f in v.false.values()):6}  all')
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('clew')
    parser.add_argument('brute_force')
    parser.add_argument('--programs', type=int, default=40)
    parser.add_argument('--first', type=int, default=1)
    parser.add_argument('--most', type=int, default=6000)
    parser.add_argument('--keep', help='a folder that does not exist yet')
    options = parser.parse_args()
    options.clew = os.path.abspath(options.clew)
    options.brute_force = os.path.abspath(options.brute_force)
    if options.keep:
        os.makedirs(options.keep)
    folder = os.path.abspath(options.keep) if options.keep else tempfile.mkdtemp(prefix='clew_truth_')
    session = Session(options, folder)
    for first in range(options.first, options.first + options.programs, BATCH):
        seeds = range(first, min(first + BATCH, options.first + options.programs))
        binary, prepared = session.build(seeds)
        for one in prepared:
            name, _, outcomes, checked = one
            try:
                v = session.check(binary, name, outcomes, checked)
            except Exception as error:  # the rest is still worth checking
                session.verdicts.claim('it can be checked', False, f'{name}: {error!r}')
                continue
            for kind, explanations in v.false.items():
                for explanation in explanations:
                    print(f'FALSE {name}: {kind}: {explanation}', flush=True)
    print(table(session))
    if not options.keep:
        shutil.rmtree(folder)
    sys.exit(1 if any(session.verdicts.false.values()) else 0)


if __name__ == '__main__':
    main()
