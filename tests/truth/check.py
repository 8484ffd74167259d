#!/usr/bin/env python3
"""Compares what clew says about generated programs with the truth about them (README.md).

    check.py CLEW BRUTE_FORCE [--programs N] [--first SEED] [--most RUNS] [--jobs N] [--keep FOLDER]

Prints every false claim and a table; exit status 1 if there is one.
"""
import argparse
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile

import claims
import explained
import generate
import model
import truth as truths

MOST_STATES = 20000  # of a model: what has more is too large to be explored here
BATCH = 20  # programs in one file of C++: building costs more than running


def prepare(seed):
    """A program with its checks, and what the model says of it; None: none was found."""
    for attempt in range(20):
        program = generate.draw(seed * 1000 + attempt)
        name = f'p{seed}'
        _, threads, main = generate.Emitter(program, name).emit()
        try:
            _, seen = model.Model(threads, main).explore(probing=True, most=MOST_STATES)
            rng = random.Random(seed * 7919 + attempt)
            choose_checks(program, seen, rng)
            lines, threads, main = generate.Emitter(program, name).emit()
            checked, _ = model.Model(threads, main).explore(most=MOST_STATES)
            outcomes, _ = model.Model(threads, main).explore(probing=True, most=MOST_STATES)
        except (model.TooLarge, model.NotModelled):
            continue
        fails = [o for o in checked if not o.startswith('exit')]
        # Those without a failure are rarer than those with one, and there are some.
        if fails or rng.random() < 0.3:
            return name, lines, outcomes
    return None


def choose_checks(program, seen, rng):
    """Turns probes into checks, nearly always such that fail in some schedules and not in all."""
    several = [n for n, values in seen.items() if isinstance(n, int) and len(values) > 1]
    numbered = [n for n in seen if isinstance(n, int)]
    if several and rng.random() < 0.9:
        for number in rng.sample(several, min(len(several), rng.choice([1, 1, 2]))):
            program.checks[number] = ('!=', rng.choice(sorted(seen[number], key=str)))
    elif numbered:
        program.checks[rng.choice(numbered)] = ('!=', 77)


class Batch:
    """Programs that are built together."""

    def __init__(self, options, folder, seeds):
        self.o = options
        self.folder = folder
        self.seeds = seeds
        # The model knows nothing of an optimiser.
        self.optimised = seeds[0] // BATCH % 3 == 2
        self.binary = f'{folder}/all_{seeds[0]}'
        self.verdicts = claims.Verdicts()
        self.programs = 0
        self.isolated = 0
        self.explained = 0

    def build(self):
        prepared = [p for p in (prepare(seed) for seed in self.seeds) if p]
        for name, lines, _ in prepared:
            with open(f'{self.folder}/{name}.cpp', 'w') as file:
                file.write('\n'.join(lines) + '\n')
        with open(f'{self.binary}.cpp', 'w') as file:
            file.write(generate.translation_unit([p[0] for p in prepared]))
        build = [self.o.clew, 'c++', '-g', '-O1' if self.optimised else '-O0', '-pthread',
                 f'{self.binary}.cpp', '-o']
        subprocess.run(build + [self.binary], check=True)
        if not self.optimised:
            subprocess.run(build + [f'{self.binary}_probe', '-DPROBE'], check=True)
        self.symbols = claims.Symbols(self.binary)
        return prepared

    def clew(self, arguments, folder, name):
        """Runs clew with --json; gives its text and the object."""
        run = subprocess.run([self.o.clew] + arguments, cwd=folder, text=True, timeout=120,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        with open(f'{folder}/{name}.txt', 'w') as file:
            file.write(run.stdout + run.stderr)
        with open(f'{folder}/{name}.json') as file:
            return run.stdout, json.load(file)

    def check_model(self, name, outcomes, v):
        """What the runtime can do is what the model can do."""
        probe = truths.Truth(self.o.brute_force, self.o.most, [f'{self.binary}_probe', name])
        probe.close()
        reached = {f'exit {int(run.kind[4:]) - 1}' if run.kind.startswith('exit') else run.kind
                   for run in probe.runs}
        v.claim('model: what clew reaches can happen', reached <= set(outcomes),
                f'{sorted(reached - set(outcomes))} of {sorted(outcomes)}')
        expected = {o for o, cost in outcomes.items() if probe.within(cost)}
        v.claim('model: what can happen is reached by clew', expected <= reached,
                f'{[(o, outcomes[o]) for o in sorted(expected - reached)]} not in {sorted(reached)}')

    def check_program(self, name, outcomes):
        v = claims.Verdicts()
        folder = f'{self.folder}/{name}'
        os.mkdir(folder)
        seed = int(name[1:])
        if not self.optimised:
            self.check_model(name, outcomes, v)
        truth = truths.Truth(self.o.brute_force, self.o.most, [self.binary, name])
        try:
            self.check_hunt(truth, folder, name, seed % 4, v)
            self.check_debug(truth, folder, name, seed, v)
        finally:
            truth.close()
        return v

    def check_hunt(self, truth, folder, name, bound, v):
        _, found = self.clew(['hunt', '--strategy', 'exhaustive', '--keep-going', '--bound',
                              str(bound), '--time', '20', '--json', 'exhaustive.json', self.binary,
                              name], folder, 'exhaustive')
        claims.check_exhaustive(truth, found, bound, v)
        shutil.rmtree(f'{folder}/.clew', ignore_errors=True)

    def check_debug(self, truth, folder, name, seed, v):
        text, found = self.clew(['debug', '--seed', str(seed), '--time', '10', '--json',
                                 'debug.json', self.binary, name], folder, 'debug')
        if not found['isolate']:
            return
        self.isolated += 1
        about = (folder, v, self.symbols, self.optimised)
        claims.IsolateChecker(truth, text, found['isolate'], *about).check()
        if found['explain']:
            self.explained += 1
            explained.ExplainChecker(truth, text, found['explain'], folder, v, self.optimised).check()
        if seed % 2:  # without --simplify, for half of them
            return
        text, found = self.clew(['isolate', str(found['hunt']['failing']), '--json',
                                 'isolate.json'], folder, 'isolate')
        claims.IsolateChecker(truth, text, found, *about).check()

    def check(self):
        for name, lines, outcomes in self.build():
            if self.o.only and self.o.only not in '\n'.join(lines):
                continue
            try:
                v = self.check_program(name, outcomes)
            except Exception as error:  # the rest is still worth checking
                v = claims.Verdicts()
                v.claim('it can be checked', False, repr(error))
            self.programs += 1
            self.verdicts.add(v, name)
            for kind, explanations in v.false.items():
                for explanation in explanations:
                    print(f'FALSE {name}: {kind}: {explanation}', flush=True)
            if not v.false:
                shutil.rmtree(f'{self.folder}/{name}', ignore_errors=True)
        return self.verdicts, self.programs, self.isolated, self.explained


def check_batch(arguments):
    return Batch(*arguments).check()


def table(verdicts, programs, isolated, explanations):
    lines = [f'{programs} programs, {isolated} of them isolated, {explanations} explained', '', f'{"claims":>8} {"false":>6}  kind']
    for kind in sorted(verdicts.made):
        lines.append(f'{verdicts.made[kind]:8} {len(verdicts.false.get(kind, [])):6}  {kind}')
    false = sum(len(f) for f in verdicts.false.values())
    lines.append(f'{sum(verdicts.made.values()):8} {false:6}  all')
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('clew')
    parser.add_argument('brute_force')
    parser.add_argument('--programs', type=int, default=40)
    parser.add_argument('--first', type=int, default=1, help='seed of the first program')
    parser.add_argument('--most', type=int, default=1500, help='schedules of a program, at most')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--with', dest='only', help='only programs that contain this text')
    parser.add_argument('--keep', help='a folder, to be created, for programs and reports')
    options = parser.parse_args()
    options.clew = os.path.abspath(options.clew)
    options.brute_force = os.path.abspath(options.brute_force)
    if options.keep:
        os.makedirs(options.keep)
    folder = os.path.abspath(options.keep) if options.keep else tempfile.mkdtemp(prefix='clew_truth_')
    end = options.first + options.programs
    batches = [(options, folder, range(first, min(first + BATCH, end)))
               for first in range(options.first, end, BATCH)]
    verdicts, programs, isolated, explanations = claims.Verdicts(), 0, 0, 0
    with multiprocessing.Pool(options.jobs) as pool:
        for some, checked, with_answer, with_cause in pool.imap_unordered(check_batch, batches):
            verdicts.merge(some)
            programs += checked
            isolated += with_answer
            explanations += with_cause
    print(table(verdicts, programs, isolated, explanations))
    if not options.keep:
        shutil.rmtree(folder)
    sys.exit(1 if any(verdicts.false.values()) else 0)


if __name__ == '__main__':
    main()
