"""The sentences of a report, each compared with the truth.

Every paragraph and figure of the text must be one that is known here, so that a new sentence
cannot escape; what is not known is reported as such.
"""
import re
import subprocess
from collections import Counter

MOST_WINDOWS = 2  # that are checked of one report
BEYOND = 10  # events behind a thread's last known place at which it is looked for further ones


class Verdicts:
    """How often each kind of claim was made, and which were false."""

    def __init__(self):
        self.made = Counter()
        self.false = {}

    def claim(self, kind, holds, explanation=''):
        self.made[kind] += 1
        if not holds:
            self.false.setdefault(kind, []).append(explanation)

    def merge(self, other):
        self.made += other.made
        for kind, explanations in other.false.items():
            self.false.setdefault(kind, []).extend(explanations)

    def add(self, other, name):
        self.made += other.made
        for kind, explanations in other.false.items():
            self.false.setdefault(kind, []).extend(f'{name}: {e}' for e in explanations)


# Sentences of the prose; each is compared with the truth below.
KNOWN_SENTENCES = [re.compile(pattern) for pattern in (
    r'failure: .*',
    r'In the failing run, .*\.',
    r'In the passing run, .*\.',
    r'If (T|the switch|instead T).*, it passes\.',
    r'Without this switch it passes\.',
    r'Otherwise it passes\.',
    r'Without this it fails\.',
    r'The failing run differs from the passing one in .*',
    r'If any one of them is left out, this failure does not happen \(checked by running\)\.',
    r'A preemption of .* leads to the failure.*\.',
    r'At .* in its course.*, it does not( \(all were tried\))?\.',
    r'At [\d,]+ of .* in its course.* it does so, too.*\.',
    r'(The first|From the first) of these places .* within .*\.',
    r'With just these two in the other order the program passes \(run once\)\.',
    r'In a run with these two in the other order the program passes\.',
    r'In the passing run they come in the other order; .*\.',
    r'Of [\d,]+ runs? of similar schedules, .*\.',
    r'So this order alone is not enough for the failure\.',
    r'So this order is neither enough for the failure nor needed for it\.',
    r'So there are other ways to fail\.',
    # Said of two events if a watched replay finds a race of exactly these (host/names/findings.h).
    r'These two accesses \(clocks [\d,]+ and [\d,]+\) are not ordered by any lock or wait: data race on .*\.',
    r'(Before|After) both, T.*: T[\d.]+ comes between\.',
    r'With that, .*\.',
    r'At the end of the failing run, .*\.',
    r'Besides, T.* waits for .*\.',
    r'What T[\d.]+ waits for was never signalled\.',
    r'What T[\d.]+ waits for was last signalled by T.*, (before T[\d.]+ came to wait|while T.* woke .*)\.',
    r'The passing run does not come to where the failing one fails.*\.',
    r'No run was found that comes there and passes\.',
    r'The program fails under every schedule that was tried, also without any preemption\.',
    r'Either the failure does not depend on the schedule, or no schedule under which the program '
    r'passes was among them\.',
    r'The isolation ended before it found anything: give it more time\.',
    r'No passing schedule was found before the limit\.',
    r'Without one there is nothing to compare the failing one with\.',
    r'\(T0 is the main thread, T0\.1 the first thread that it created.*\.',
    r'A step is one yield point .*; the clock counts them\.\)',
    r'The failing run needs no preemption: each thread runs until it waits or ends\.',
)]
# A thread where it is mentioned first: "worker (T0.2)", "lambda at a.cc:7 (T0.1)". Only its id counts.
INTRODUCED = re.compile(r'(?:lambda\s+at\s+)?[^\s(,]+\s+\((T0[\d.]*)\)')
# What the program printed.
QUOTED = re.compile(r'^ +(\| .*|last on standard (error|output):)\n', re.M)
# Parts of a report that are not prose.
STRUCTURED = re.compile(r'(Switch at clock|Choice \(|The failing schedule has|Failing run, step by step|'
                        r'Passing run, step by step|(\d+ tests?|no difference was tested), cost|[\d,]+ differences? between)')


def sentences(report):
    """The sentences of a report's prose."""
    found = []
    for block in re.split(r'\n\s*\n', report):
        text = ' '.join(block.split())
        if not text or STRUCTURED.match(text):
            continue
        found += re.split(r'(?<=[.)])(?<=\.) (?=[A-Z])', text)
    return found


def identity(step):
    return (step.thread, step.kind, step.object, step.place)


def occurrence(steps, index):
    """Which event this is, in words that mean the same in other runs: the n-th of its thread there."""
    which = identity(steps[index])
    return which, sum(1 for s in steps[:index] if identity(s) == which)


def position(steps, event):
    which, number = event
    for i, step in enumerate(steps):
        if identity(step) == which:
            if number == 0:
                return i
            number -= 1
    return None


# What `clew debug` says first, and `clew explain` alone (docs/explain.md): checked in explained.py.
EXPLAINED = re.compile(r'\A.*?^  replay: clew replay \d+(?: \(fails\), clew replay \d+ \(passes\))?\n'
                       r'(?:  gdb at step \d+: clew replay \d+ --gdb, and in it: clew goto \d+\n)?'
                       r'(?:  all steps: clew explain --full\n)?', re.S | re.M)


class IsolateChecker:
    """Checks what `isolate` or `debug` says about one failure."""

    def __init__(self, truth, text, json, folder, verdicts, symbols, optimised):
        self.t = truth
        text = INTRODUCED.sub(r'\1', QUOTED.sub('', EXPLAINED.sub('', text, count=1)))
        self.text = text
        self.flat = ' '.join(text.split())
        self.j = json
        self.v = verdicts
        self.folder = folder
        self.symbols = symbols
        self.optimised = optimised  # then the line of an access may be that of its neighbour
        self.fails = self.recording(json['failing'])
        self.passes = self.recording(json['passing'])

    def recording(self, number):
        return self.t.ask(f'{self.folder}/.clew/{number}') if number else None

    def check(self):
        for sentence in sentences(self.text):
            known = any(pattern.fullmatch(sentence) for pattern in KNOWN_SENTENCES)
            self.v.claim('the checker knows the sentence', known, sentence)
        self.check_sides()
        if self.fails is None:
            self.check_always_fails()
            return
        self.failure = self.fails.failure()
        self.check_switches()
        self.check_windows()
        self.check_pair()
        self.check_fewest()
        self.check_minimal()
        self.check_courses()
        self.check_waits()
        self.check_signals()
        self.check_figures()
        self.check_reaches()

    # ---- the two runs
    def check_sides(self):
        if self.fails is not None:
            self.v.claim('the failing recording fails', self.fails.verdict == 'fail',
                         f'it is {self.fails.verdict}')
        if self.passes is not None:
            self.v.claim('the passing recording passes', self.passes.verdict == 'pass',
                         f'it is {self.passes.verdict} ({self.passes.schedule})')

    def check_always_fails(self):
        if 'give it more time' in self.flat or 'before the limit' in self.flat:
            self.v.claim('it was stopped at a limit', not self.j['complete'], 'it was not')
        if 'fails under every schedule that was tried' not in self.flat:
            return
        plain = self.t.ask('')
        self.v.claim('fails also without any preemption', plain.verdict == 'fail', 'it passes')
        passing = sum(r.verdict == 'pass' for r in self.t.runs)
        self.v.claim('no schedule that passes was among them: fewer than 1 in 20 do',
                     passing * 20 <= len(self.t.runs), f'{passing} of {len(self.t.runs)} pass')

    def schedule_items(self, side):
        return [i.strip() for i in side.schedule.split(',') if i.strip()]

    # ---- what was isolated
    def check_switches(self):
        for one in self.j['switches']:
            if one['kind'] == 'choice':
                continue
            self.check_stand('fail', one, self.fails, one['fail_clock'])
            if one['pass_clock'] is not None:
                self.check_stand('pass', one, self.passes, one['pass_clock'])
        if len(self.j['switches']) == 1:
            self.check_one_cause(self.j['switches'][0])
        elif len(self.j['switches']) > 1:
            self.check_several_causes()

    # "T0.1 is preempted before a.cc:16 by T0.2, which runs from a.cc:23"
    def check_stand(self, which, one, side, clock):
        stand = one[which]
        if not stand or not stand.get('next') or stand['from'] is None:
            return
        decided = [d for d in side.decisions if d.clock == clock and d.kind == 0]
        thread = stand['from']['thread']
        at = stand['from']['at']
        self.v.claim(f'{which}ing run: T is preempted at this clock',
                     any(d.thread == thread for d in decided), f'{thread} at {clock}: {decided}')
        for d in decided:
            if d.thread != thread or at is None or d.file == '-' or not in_program(d.file):
                continue
            self.v.claim(f'{which}ing run: T is preempted before this line', d.line == at['line'],
                         f'{thread} stands at line {d.line}, not {at["line"]}')
            self.check_step(which, stand['from'].get('step'), side, d)
        here = [s for c, s in side.steps if c == clock]
        nxt = stand['next']
        if here and here[0].thread != nxt['thread']:
            self.v.claim(f'{which}ing run: U blocks at once',
                         f'{nxt["thread"]}, which blocks at once' in self.flat,
                         f'{here[0]} comes next, and not {nxt["thread"]}')
        elif here and nxt['at'] and in_program(here[0].file):
            self.v.claim(f'{which}ing run: U runs from this line',
                         here[0].thread == nxt['thread'] and here[0].line == nxt['at']['line'],
                         f'{here[0]} is not {nxt["thread"]} at line {nxt["at"]["line"]}')

    # "... before it reads `x` at a.cc:16, its 2nd time there"
    def check_step(self, which, told, side, decision):
        if not told:
            return
        steps = [s for _, s in side.steps if s.thread == decision.thread]
        step = next((s for s in steps if s.own == decision.own), None)
        if step is None:  # this run ends before that
            other = self.passes if side is self.fails else self.fails
            steps = [s for _, s in other.steps if s.thread == decision.thread]
            step = next((s for s in steps if s.own == decision.own), None)
        self.v.claim(f'{which}ing run: what T is about to do',
                     step is not None and step.kind == told['what'] and
                     (not told['variable'] or int(told['object'], 16) == int(step.object, 16)) and
                     (not told['at'] or self.same_line(step, told['at'])),
                     f'{told} is {step}')
        self.check_variable(told)
        if step is not None and told['time']:
            times = sum(s.place == step.place and s.own <= step.own for s in steps)
            self.v.claim('for the N-th time', told['time'] == times,
                         f'{told["time"]}, not {times}')

    def same_line(self, step, at):
        return not in_program(step.file) or step.line == at['line']

    def other_schedule(self, groups):
        """The failing schedule with these differences taken from the passing one."""
        fails = [i for i in self.schedule_items(self.fails)]
        passes = [i for i in self.schedule_items(self.passes)]
        switches_f = [i for i in fails if '/' not in i]
        switches_p = [i for i in passes if '/' not in i]
        choices = [i for i in fails if '/' in i]
        if len(switches_f) != len(switches_p):
            return None
        result = list(switches_f)
        for one in groups:
            if one['kind'] == 'choice':
                return None
            result[one['index'] - 1] = switches_p[one['index'] - 1]
        items = result + choices
        items.sort(key=lambda i: (int(re.split('[:/]', i)[0]), '/' not in i))
        return ', '.join(items)

    def check_one_cause(self, one):
        v = self.v
        known = False
        for kind, pattern in (
                ('one step later, when T has done that, it passes',
                 r'If T[\d.]+ is preempted one step later[^,]*, when it has [^,]*, it passes'),
                ('without this switch it passes', r'Without this switch it passes\.'),
                ('if the switch comes N steps earlier/later, it passes',
                 r'If the switch comes [\w,]+ steps? (?:earlier|later), it passes'),
                ('if instead V is preempted, N steps earlier/later, it passes',
                 r'If instead T[\d.]+ is preempted, [\w,]+ steps? (?:earlier|later).*?it passes'),
                ('if T is preempted N steps earlier/later, it passes',
                 r'If T[\d.]+ is preempted [\w,]+ steps? (?:earlier|later)(?![^,]*, when it has).*?it passes'),
                ('if U runs there instead, it passes', r'If T[\d.]+ runs there instead'),
                ('otherwise it passes', r'Otherwise it passes\.'),
                ('in the passing run ..., without this it fails', r'Without this it fails\.')):
            found = re.search(pattern, self.flat)
            if not found:
                continue
            known = True
            v.claim(kind, self.passes.verdict == 'pass', 'it does not')
            if kind.startswith('one step later'):
                done = [s for c, s in self.passes.steps if c == one['fail_clock']]
                step = one['fail']['from']['step']
                v.claim('one step later: T has done that',
                        bool(done) and done[0].thread == one['from'] and
                        done[0].kind == step['what'] and
                        (not step['at'] or self.same_line(done[0], step['at'])),
                        f'{done} is not {step}')
            if kind.startswith('if T is preempted'):
                self.check_own_steps(one)
            if one['fail'] and one['pass'] and one['fail']['next'] and one['pass']['next']:
                told = one['pass']['next']['thread']
                v.claim('the passing switch is to the same thread, or the other one is named',
                        told == one['fail']['next']['thread'] or
                        f'by {told}' in found.group(0) or f'If {told} runs' in found.group(0),
                        f'it is to {told} and not to {one["fail"]["next"]["thread"]}')
        v.claim('the cause is told in a known sentence', known, self.flat[:400])

    def check_own_steps(self, one):
        """ "If T is preempted two steps earlier": steps of T itself."""
        there = [next((d for d in side.decisions
                       if d.clock == clock and d.kind == 0 and d.thread == one['from']), None)
                 for side, clock in ((self.fails, one['fail_clock']), (self.passes, one['pass_clock']))]
        if None not in there:
            self.v.claim('N steps earlier/later: steps of that thread',
                         there[0].own - there[1].own == one['fail_clock'] - one['pass_clock'],
                         f'its own events {there[0].own} and {there[1].own}, clocks '
                         f'{one["fail_clock"]} and {one["pass_clock"]}')

    def check_several_causes(self):
        self.v.claim('with all it fails, with none it passes',
                     self.fails.verdict == 'fail' and self.passes.verdict == 'pass', '')
        if 'If any one of them is left out' not in self.flat:
            return
        for one in self.j['switches']:
            schedule = self.other_schedule([one])
            if schedule is None:
                continue
            run = self.t.ask(schedule)
            self.v.claim('if any one is left out, this failure does not happen',
                         run.failure() != self.failure,
                         f'without #{one["index"]} ({schedule}) it does')

    # ---- windows
    def check_windows(self):
        script = [(d.thread, d.own, d.kind, d.ordinal, d.to) for d in self.fails.decisions]
        for info in self.j['preemptions'][:MOST_WINDOWS]:
            if not info['window'] or not info['window']['places']:
                continue
            at = next((i for i, d in enumerate(self.fails.decisions)
                       if d.clock == info['clock'] and d.kind == 0 and
                       d.thread == info['thread']), None)
            self.v.claim('a window is that of a preemption', at is not None, str(info['clock']))
            if at is not None:
                self.check_window(info['window'], script, at)

    def check_window(self, window, script, at):
        """All places in the thread's course, each by running."""
        thread, own, _, _, to = script[at]
        course = max(s.own for side in (self.fails, self.passes) for _, s in side.steps
                     if s.thread == thread)
        known = {}
        place = 0
        while place < max([course, own] + list(known)) + BEYOND:
            place += 1
            item = (thread, place) + script[at][2:]
            run = self.t.script(script[:at] + [item] + script[at + 1:])
            took = [d for d in run.decisions
                    if d.thread == thread and d.own == place and d.kind == 0 and d.to == to]
            if took:
                known[place] = (run.failure() == self.failure, took[0], run)
        if not known.get(own, (False,))[0]:
            self.v.claim('window: the preemption itself leads to the failure', False, f'at {own}')
            return
        places = sorted(known)
        here = places.index(own)
        first = last = here
        while first > 0 and known[places[first - 1]][0]:
            first -= 1
        while last + 1 < len(places) and known[places[last + 1]][0]:
            last += 1
        count = last - first + 1
        if window['gapless']:
            self.v.claim('window: each of N places in a row', count == window['places'],
                         f'{count} and not {window["places"]}')
        else:
            self.v.claim('window: N places that were tried', count >= window['places'],
                         f'{count} and not {window["places"]}')
        for end, word in ((places[first], 'first'), (places[last], 'last')):
            told = window[word]
            if not told or not window['gapless']:
                continue
            step = next((s for _, s in known[end][2].steps
                         if s.thread == thread and s.own == end), None)
            if step is not None:
                self.v.claim(f'window: its {word} place',
                             told['what'] in ('', step.kind) and self.same_line(step, told['at']),
                             f'{step} is not {told}')
        for word, beside in (('ends_before', places[first] - 1), ('ends_after', places[last] + 1)):
            if window[word] and window['gapless']:
                self.v.claim('window: one step earlier/later it does not',
                             beside in known and not known[beside][0], f'{beside} of {places}')
        others = [p for p in places if p < places[first] or p > places[last]]
        failing = [p for p in others if known[p][0]]
        if window['whole_course']:
            self.v.claim('window: N other places in its course (all)',
                         len(others) == window['others'], f'{len(others)}, not {window["others"]}')
            self.v.claim('window: N of the others do so, too',
                         len(failing) == window['others_failing'],
                         f'{len(failing)}, not {window["others_failing"]}')
        else:
            self.v.claim('window: N of the others that were tried do so, too',
                         len(failing) >= window['others_failing'],
                         f'{len(failing)}, not {window["others_failing"]}')

    # ---- the order of two events
    def check_pair(self):
        pair = self.j['pair']
        if not pair:
            return
        first = self.event_of(pair['first'], self.fails)
        second = self.event_of(pair['second'], self.fails)
        if pair['second']['clock'] is None:
            second = self.event_by_line(pair['second'])
        self.v.claim('pair: both are events of the failing run in this order',
                     first is not None and
                     (pair['second']['clock'] is None or second is not None), str(pair))
        if first is None or second is None:
            return
        steps = [s for _, s in self.passes.steps]
        there = position(steps, first), position(steps, second)
        swapped = there[1] is not None and (there[0] is None or there[1] < there[0])
        if 'In the passing run they come in the other order' in self.flat:
            self.v.claim('pair: in the passing run they come in the other order', swapped,
                         f'{first} {second} at {there}')
        self.check_swapped(pair, first, second)
        self.check_similar(pair, first, second, self.check_between(pair, first, second))
        self.check_guarded(pair)

    def check_guarded(self, pair):
        """ "With that, T wrote x before U could read it": in the failing run, by its trace."""
        if not pair['guarded_first'] or not pair['guarded_second']:
            return
        steps = [s for _, s in self.fails.steps]
        first = self.event_of(pair['guarded_first'], self.fails)
        second = self.event_of(pair['guarded_second'], self.fails)
        self.v.claim('pair: with that, T did this before U could do that',
                     first is not None and
                     (second is None or position(steps, first) < position(steps, second)),
                     f'{first} {second}')

    def check_between(self, pair, first, second):
        """ "Before both, U read x: T comes between". Gives that third event, if there is one."""
        for word, outer in (('earlier', 'second'), ('later', 'first')):
            if not pair[word]:
                continue
            third = self.event_of(pair[word], self.fails)
            steps = [s for _, s in self.fails.steps]
            at = [position(steps, event) for event in (first, second, third) if event]
            fits = (len(at) == 3 and (at[2] < at[0] < at[1] if word == 'earlier' else
                                      at[0] < at[1] < at[2]))
            self.v.claim('pair: the one comes between two of the other',
                         fits and pair[word]['thread'] == pair[outer]['thread'],
                         f'{pair[word]} at {at}')
            return (word, third) if third else None
        return None

    def runs_with(self, first, second, third=None):
        """The orders of the two in all runs: (run, whether it is that of the failing run)."""
        for run in self.t.runs:
            a, b = position(run.steps, first), position(run.steps, second)
            if third:
                c = position(run.steps, third[1])
                if None not in (a, b, c):
                    yield run, a < b and (c < a if third[0] == 'earlier' else b < c)
            elif a is not None and b is not None:
                yield run, a < b
            elif run.verdict == 'fail' and (a is not None or b is not None):
                yield run, a is not None

    def check_swapped(self, pair, first, second):
        passing = [run for run, this in self.runs_with(first, second)
                   if not this and run.verdict == 'pass']
        if pair['swapped'] == 'fails':
            fails = any(not this and failure_of_run(run) == self.failure
                        for run, this in self.runs_with(first, second))
            self.claim_existing('pair: swapped in the failing run, it fails all the same', fails)
        if pair['swapped'] != 'passes':
            return
        self.claim_existing('pair: in a run with the other order it passes', bool(passing))
        if not pair['alone']:
            return
        ours = order_of_conflicts([s for _, s in self.fails.steps])
        alone = False
        for run in passing:
            theirs = order_of_conflicts(run.steps)
            turned = {(a, b) for a, b in ours if (b, a) in theirs}
            if turned <= {(first, second)}:
                alone = True
                break
        self.claim_existing('pair: with just these two in the other order it passes', alone)

    def claim_existing(self, kind, exists):
        """That a run exists; what is not found is false only if all runs are known."""
        if exists or self.t.complete is None:
            self.v.claim(kind, exists, 'there is no such run')
        else:
            self.v.made[f'{kind} (not among the runs that were listed)'] += 1

    def check_similar(self, pair, first, second, third):
        made = pair['this_order'], pair['other_order']
        if sum(m['failed'] + m['passed'] for m in made) == 0:
            return
        seen = Counter()
        for run, this in self.runs_with(first, second, third):
            if run.verdict == 'pass':
                seen[this, 'passed'] += 1
            elif failure_of_run(run) == self.failure:
                seen[this, 'failed'] += 1
        for this, tally in ((True, made[0]), (False, made[1])):
            for outcome in ('passed', 'failed'):
                if tally[outcome]:
                    self.claim_existing('pair: similar schedules with this order fail/pass',
                                        seen[this, outcome] > 0)
        for sentence, kind, exists in (
                ('this order is not enough', 'some with this order pass', seen[True, 'passed']),
                ('there are other ways to fail', 'some with another fail', seen[False, 'failed'])):
            if sentence in self.flat:
                self.claim_existing(f'pair: {sentence}', exists > 0)
            else:
                self.v.made[f'(pair: not told that {kind}: '
                            f'{"there are such runs" if exists else "there is none"})'] += 1

    def event_of(self, info, side):
        if info['clock'] is None:
            return None
        for i, (clock, step) in enumerate(side.steps):
            if clock == info['clock'] and step.thread == info['thread']:
                self.v.claim('event: what it does', step.kind == info['what'],
                             f'{step} is not {info["what"]}')
                self.check_variable(info)
                if info['at'] and in_program(step.file):
                    self.v.claim('event: its line', step.line == info['at']['line'],
                                 f'{step.line}, not {info["at"]["line"]}')
                return occurrence([s for _, s in side.steps], i)
        return None

    def check_variable(self, info):
        # A thread's object is its number.
        if not info['object'] or not self.symbols or info['what'] in ('create', 'join'):
            return
        expected = self.symbols.name(int(info['object'], 16))
        told = info['variable'] or ''
        # Members and elements have names of their own. What is no global variable is told with whose it is.
        whole = expected.partition('+')[0]
        right = (told == expected or told.startswith((whole + '.', whole + '['))) if expected else (
            not told or '(' in info['name'] or told.startswith('*') or '->' in told)
        self.v.claim('event: its variable', right, f'{told} at {info["object"]} is {expected}')

    def event_by_line(self, info):
        """An event that the failing run does not get to, from the passing run."""
        steps = [s for _, s in self.passes.steps]
        for i, step in enumerate(steps):
            if (step.thread == info['thread'] and step.kind == info['what'] and info['at'] and
                    step.line == info['at']['line']):
                return occurrence(steps, i)
        return None

    # ---- figures
    def check_fewest(self):
        count = self.fails.preemptions
        found = re.search(r'; (without any|with (\d+)) it fails, too', self.flat)
        if found:
            fewer = int(found.group(2) or 0)
            self.v.claim('with fewer preemptions it fails, too',
                         any(failure_of_run(r) == self.failure and r.preemptions <= fewer
                             for r in self.t.runs) or not self.t.within(fewer) or
                         self.t.other_answers(),
                         f'not with {fewer}')
        if 'none with fewer' not in self.flat:
            return
        fewer = [r for r in self.t.runs if r.verdict == 'fail' and r.preemptions < count]
        self.v.claim('none with fewer preemptions fails', not fewer,
                     f'{count} preemptions; {len(fewer)} runs with fewer fail, the first with '
                     f'{fewer[0].preemptions if fewer else 0}')

    def check_minimal(self):
        if 'no single change brings the two runs closer' not in self.flat:
            return
        if len(self.j['switches']) != 1 or self.j['switches'][0]['changes'] != 1:
            self.v.made['no single change brings the two runs closer (several changes, not checked)'] += 1
            return
        self.v.claim('no single change brings the two runs closer', True)

    def check_figures(self):
        if 'needs no preemption' in self.flat:
            self.v.claim('the failing run needs no preemption', self.fails.preemptions == 0,
                         f'it has {self.fails.preemptions}')
        found = re.search(r'failing schedule: ([\d,]+) preemption', self.flat)
        if found:
            self.v.claim('failing schedule: N preemptions',
                         int(found.group(1).replace(',', '')) == self.fails.preemptions,
                         f'{found.group(1)}, but it has {self.fails.preemptions}')

    # ---- both runs, step by step
    def check_courses(self):
        for name, side in (('failing_course', self.fails), ('passing_course', self.passes)):
            steps = {c: s for c, s in side.steps}
            for event in self.j[name]:
                step = steps.get(event['clock'])
                same = (step is not None and step.thread == event['thread'] and
                        step.kind == event['what'] and
                        (not event['at'] or not in_program(step.file) or
                         step.line == event['at']['line']))
                self.v.claim('a step of a run, as it is shown', same, f'{event} is {step}')
                self.check_variable(event)

    def check_waits(self):
        for wait in self.j['waits']:
            if not wait['at']:  # in a library, where no step is seen
                continue
            last = [s for _, s in self.fails.steps if s.thread == wait['thread']]
            self.v.claim('a wait at the end of a deadlock',
                         bool(last) and last[-1].kind in ('lock', 'wait', 'join') and
                         (self.optimised or not wait['at'] or not in_program(last[-1].file) or
                          last[-1].line == wait['at']['line']),
                         f'{wait} but the last step is {last[-1:]}')
            if last and last[-1].kind == 'lock' and wait['holder']:
                held = {}
                for _, s in self.fails.steps:
                    if s.kind == 'lock' and (s is not last[-1]):
                        held[s.object] = s.thread
                    elif s.kind == 'unlock' and held.get(s.object) == s.thread:
                        del held[s.object]
                self.v.claim('a lock at the end of a deadlock is held by',
                             held.get(last[-1].object) == wait['holder'] or
                             held.get(last[-1].object) is None,
                             f'{wait["holder"]}, not {held.get(last[-1].object)}')

    def check_signals(self):
        """The last signal of what a thread waits for in the end, and whom it woke."""
        for wait in self.j['waits']:
            if wait['signalled'] is None:
                continue
            waited = [(c, s) for c, s in self.fails.steps
                      if s.thread == wait['thread'] and s.kind == 'wait'][-1]
            signals = [(c, s) for c, s in self.fails.steps
                       if s.kind == 'signal' and s.object == waited[1].object]
            if not signals:
                self.v.claim('never signalled', wait['signalled'] == 'never', f'{wait}')
                continue
            clock, signal = signals[-1]
            when = 'before' if clock < waited[0] else 'during'
            self.v.claim('the last signal before or during a wait',
                         wait['signalled'] == when and wait['signal']['thread'] == signal.thread and
                         wait['signal']['clock'] == clock, f'{wait}, but {when} by {signal}')
            if wait['woken']:
                # It continues, or stands before the lock that its wait takes again.
                last = [s for c, s in self.fails.steps if s.thread == wait['woken'] and c < clock]
                self.v.claim('whom a signal woke', when == 'during' and bool(last) and
                             last[-1].kind == 'wait' and last[-1].object == signal.object, f'{wait}')

    def check_reaches(self):
        """The passing run gets past the statement that fails, if some run that is as simple does."""
        at = (self.j['failure'] or {}).get('at')
        thread = (self.j['failure'] or {}).get('thread')
        if self.j['failure']['kind'] != 'assert' or not at:
            return
        last = [s for _, s in self.fails.steps if s.thread == thread]
        if not last:
            return
        # What it touches there may be something else.
        def passages(steps):
            return sum(s.thread == thread and s.place == last[-1].place for s in steps)

        needed = passages(last)
        reaches = passages(s for _, s in self.passes.steps) >= needed
        could = any(r.verdict == 'pass' and r.preemptions <= self.fails.preemptions and
                    passages(r.steps) >= needed for r in self.t.runs)
        if 'does not come to where the failing one fails' in self.flat:
            self.v.claim('the passing run does not come to where it fails', not reaches, 'it does')
            self.v.made['(no run was found that comes there and passes, though there are some as '
                        'simple)' if could else
                        '(no run was found that comes there and passes, and none is as simple)'] += 1
        elif could:
            self.v.claim('the passing run comes to where it fails', reaches, f'{last[-1]}')


class Symbols:
    """Global variables of a program."""

    BASE = 0x555555554000  # where clew has programs loaded

    def __init__(self, binary):
        self.list = []
        text = subprocess.run(['nm', '-SC', '--defined-only', binary], text=True, check=True,
                              stdout=subprocess.PIPE).stdout
        for line in text.splitlines():
            words = line.split(maxsplit=3)
            if len(words) == 4 and words[2] in 'bBdDvVu':
                self.list.append((int(words[0], 16), int(words[1], 16), words[3]))

    def name(self, address):
        for start, size, name in self.list:
            if start <= address - self.BASE < start + size:
                offset = address - self.BASE - start
                return f'{name}+{offset}' if offset else name
        return ''


def conflict(a, b):
    """Whether the order of two steps of different threads matters: memory only."""
    accesses = ('read', 'write', 'update', 'free', 'destroy')
    return (a.thread != b.thread and a.object == b.object and a.kind in accesses and
            b.kind in accesses and (a.kind, b.kind) != ('read', 'read'))


def order_of_conflicts(steps):
    """All pairs of conflicting events, the first first."""
    times = Counter()
    events = []
    for step in steps:
        which = identity(step)
        events.append((which, times[which]))
        times[which] += 1
    return {(events[i], events[j]) for i in range(len(steps)) for j in range(i + 1, len(steps))
            if conflict(steps[i], steps[j])}


def in_program(file):
    return file.endswith('.cpp') or file.endswith('.c')


def failure_of_run(run):
    if run.verdict != 'fail':
        return None
    return (run.kind, '' if run.kind in ('deadlock', 'hang') else run.key)


def check_exhaustive(truth, json, bound, verdicts):
    """What a hunt with --strategy exhaustive concludes."""
    conclusion = json['conclusion'] or ''
    failing = [r for r in truth.runs if r.verdict == 'fail']
    within = [r for r in failing if r.preemptions <= bound]
    questions = 'apart from' in conclusion
    if re.match(r'(all|the) \d+ schedules? with at most', conclusion):
        verdicts.claim('all N schedules with at most K preemptions pass', not within,
                       f'"{conclusion}", but {len(within)} of those with at most {bound} fail '
                       f'(the first with {min((r.preemptions for r in within), default=0)})')
        if 'also with more preemptions' in conclusion:
            verdicts.claim('... also with more preemptions', not failing,
                           f'"{conclusion}", but {len(failing)} fail')
            if truth.complete is None and not questions:
                known = {frozenset(order_of_conflicts(r.steps)) for r in truth.runs}
                verdicts.claim('... any other is equivalent to one of these',
                               json['schedules'] >= len(known),
                               f'{json["schedules"]} schedules, there are {len(known)} classes')
    if truth.complete is None:
        known = {r.interleaving for r in truth.runs}
        verdicts.claim('N distinct interleavings', json['interleavings'] <= len(known),
                       f'{json["interleavings"]}, there are {len(known)}')
    if json['outcome'] == 'found':
        kinds = {(r.kind.rstrip('0123456789')) for r in failing}
        verdicts.claim('a failure that is found exists',
                       json['failure']['kind'] in kinds or not truth.within(bound),
                       f'{json["failure"]} is not among {kinds}')
        if json['complete']:
            found = {f['failure']['at']['line'] if f['failure']['at'] else 0
                     for f in json['failures']}
            # Two signals or exit statuses of one line are one failure to a hunt.
            keys = {failure_of_run(r) for r in within if r.kind in ('assert', 'deadlock')}
            verdicts.claim('a complete search finds every failure within the bound',
                           len(json['failures']) >= len(keys),
                           f'{len(json["failures"])} failures ({found}), there are {len(keys)}')
