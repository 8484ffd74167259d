"""What `clew explain` says, compared with the steps of the two runs as brute_force lists them, which knows nothing of traces.

Steps have no values: those of the story are not checked here, nor what its tests did.
"""
import re

LINE = r'(?:a place that is not known|[\w.]+:\d+)(?: \(in the call at [\w.]+:\d+\))?'
WHO = r"T0[\d.]*(?:'s signal handler)?"
WHAT = r'(?:`[^`]+`|the same memory|(?:byte \d+ of )?the [^`]+? allocated at [\w.?]+(?::\d+)?)'
KIND = r'(?:data race|atomicity violation|order violation|lost wake-up|deadlock|another outcome of a call|of no kind that clew knows)'
VERB = r'(?:reads|writes|updates|frees|destroys|uses)'
ORIGIN = rf'(?:, as it was at the start|, (?:written|freed|destroyed|read) by {WHO} at [\w.]+:\d+|, which {WHO} left there by `\w+` at [\w.]+:\d+|)'
WAIT = (rf'{WHO} waits (?:for `[^`]+` |in `\w+` |)at {LINE}(?:, which {WHO} holds since {LINE}|, which it holds itself since {LINE}'
        rf'|, for which it needs {WHO} to continue|, and too few threads come there'
        rf'|, but the last signal that could have woken it came before: by {WHO} at {LINE}|, and the signal of {WHO} at {LINE} has not woken it'
        rf'|, and the signal of {WHO} at {LINE} has woken {WHO} instead, which waited at {LINE}'
        r'|, and no call that could have woken it was seen)')
CAUSE = (rf'(?:{WHO} sees {WHAT} new, at {LINE}, and {WHAT} old, at {LINE}: {WHO} writes the one at {LINE}(?:, releases the lock at {LINE} and writes| and) the other only later, at {LINE}(?:, after it has let {WHO} come there at {LINE})?'
         rf'|{WHO} {VERB} {WHAT} at {LINE} before {WHO} has (?:written|freed|destroyed|read) it(?: once more)? at {LINE}'
         rf'(?:, and after {WHO} has (?:created it|let it come there) at {LINE})?'
         rf'|{WHO} {VERB} {WHAT} at {LINE} after {WHO} has (?:written|freed|destroyed|read) it at {LINE}'
         rf'|{WHO} {VERB} {WHAT} at {LINE} between two accesses of {WHO}, which (?:{VERB} it at {LINE} and {VERB} it at {LINE}|{VERB} it twice at {LINE}|{VERB} and {VERB} it at {LINE})'
         rf'|{WHO} {VERB} {WHAT} at {LINE} between two steps of {WHO}, which {VERB} {WHAT} at {LINE} and {VERB} {WHAT} at {LINE}'
         rf'|{WHO} calls `\w+` for descriptor \d+(?: \({WHAT}\))? at {LINE} after {WHO} has closed (?:it|the other end of its pipe) at {LINE}'
         rf'|{WHO} calls `\w+` for {WHAT} at {LINE} after {WHO} has destroyed it at {LINE}'
         rf'|{WHO} {VERB} a local variable of `[^`]+` at {LINE} after {WHO} has left it at {LINE}'
         rf'|{WHO} {VERB} {WHAT} at {LINE} after {WHO} has freed that memory at {LINE}'
         rf'|`\w+` (?:returns .+|does not return) for {WHO} at {LINE}; in the passing run it (?:returns .+|does not return)|{WAIT})')
LOCK = r'(?:`[^`]+`|a lock)(?: for reading)?'
LOCKS = rf'(?:no lock|{LOCK}(?: and {LOCK})*)'
KNOWN = [re.compile(pattern) for pattern in (
    rf'{KIND}: {CAUSE}',
    rf'{CAUSE}\.',
    rf'(?:Of {WHAT}, )?{WHO} (?:reads .+|makes it .+){ORIGIN}; in the passing run it (?:reads .+|makes it .+){ORIGIN}\.',
    rf'All three hold {LOCKS}, but it is released in between(?:, at {LINE})?\.',
    r'None of the three holds a lock\.',
    rf'All three hold {LOCKS}, which keeps none of them out\.',
    rf'{WHO} holds {LOCKS} there, {WHO} {LOCKS}(?: and then {LOCKS})?\.',
    rf'{WHO} has allocated it at [\w.]+:\d+\.',
    rf'{WHO} has got its address at {LINE}\.',
    rf'{WHO} has created {WHO} at {LINE}, before that\.',
    rf'{WHO} has let {WHO} come there at {LINE}, before that\.',
    rf'Before it, {WHO} only sleeps, at {LINE}: that orders nothing\.',
    rf'another outcome of a call: the wait of {WHO} at {LINE} times out; in the passing run it does not',
    rf'another outcome of a call: the wait of {WHO} at {LINE} times out, and then {CAUSE}; in the passing run that is written before it times out',
    rf'{WHO} (?:{VERB}|calls) (?:`[^`]+`|memory) as well, at {LINE}: so the two steps are not one for it\.',
    rf'The number stands for something else by then, since `\w*` of {WHO} at {LINE}\.',
    rf'{WHO} has got its number at {LINE}\.',
    rf'Then {CAUSE}\.',
    rf'After that, {CAUSE}\.',
    rf'{WHO} has freed that memory before the last of them, at {LINE}\.',
    rf'{WHO} goes by (?:`[^`]+`, which|what) it has (?:read|updated) at {LINE}; {WHO} has (?:written|updated) (?:it|there) since, at {LINE}'
    r'(?:: (?:with that value put in where it reads|if that comes first), the failing run passes)?\.',
    rf'This suffices as well, by itself: {CAUSE}\.',
    r'The memory has been allocated again since, for something else\.',
    r'There is no passing run to compare with\.',
    r'The runs are too long to be traced as a whole: "the start" is clock \d+ here, up to which both are the same\.',
    r'The slice was ended after \d+ instructions: what lies further back was not reached\.',
)]
NOT_EXPLAINED = 'not explained: no difference between the two runs that was seen leads to the failure'
ACCESS = {'reads': ('read',), 'writes': ('write', 'update'), 'updates': ('update', 'write'), 'frees': ('free',), 'destroys': ('destroy',)}


class ExplainChecker:
    """Checks the object and the text of one explanation."""

    def __init__(self, truth, text, json, folder, verdicts, optimised):
        self.text = text
        self.j = json
        self.v = verdicts
        self.optimised = optimised  # then the line of an access may be that of its neighbour
        self.fails = truth.ask(f'{folder}/.clew/{json["failing"]}')
        self.passes = truth.ask(f'{folder}/.clew/{json["passing"]}')
        self.lines = {s.line for side in (self.fails, self.passes) for _, s in side.steps if in_program(s.file)}

        # Lines that access several objects: the points of all come before the first access, as of a memcpy.
        objects = {}
        for side in (self.fails, self.passes):
            for _, s in side.steps:
                if s.kind in ('read', 'write', 'update'):
                    objects.setdefault(s.line, set()).add((s.kind, s.object))
        self.joint = {line for line, several in objects.items() if len({o for _, o in several}) > 1}

    def check(self):
        self.check_sentences()
        self.v.claim('explain: the failing recording fails', self.fails.verdict == 'fail', self.fails.verdict)
        if self.j['failing'] != self.j['passing']:
            self.v.claim('explain: the passing recording passes', self.passes.verdict == 'pass', self.passes.verdict)
        for cause in (self.j['cause'], self.j['behind'], self.j['leads_to'], *self.j['also']):
            if cause:
                self.check_cause(cause)
        for step in self.j['story']:
            self.check_story(step)
        self.check_root()

    def check_sentences(self):
        self.know(self.j['headline'])
        # The first sentence is printed on standard error.
        body = re.split(r'^  (?:from there to the failure|replay:)', self.text, maxsplit=1, flags=re.M)[0]
        flat = ' '.join(body.split())
        for sentence in re.split(r'(?<=\.) (?=[A-Z])', flat) if flat else []:
            self.know(sentence)

    def know(self, sentence):
        known = sentence == NOT_EXPLAINED or any(pattern.fullmatch(sentence) for pattern in KNOWN)
        self.v.claim('explain: the checker knows the sentence', known, sentence)

    # ---- events
    def steps_of(self, side, event):
        """The steps of the run that can be this event: (index, Step)."""
        if event is None or not event['at'] or event['what'] not in ACCESS or 'handler' in (event['thread'] or ''):
            return None
        if event['at']['line'] in self.joint:
            return None
        found = [(i, s) for i, (_, s) in enumerate(side.steps)
                 if s.thread == event['thread'] and s.kind in ACCESS[event['what']] and
                 (self.optimised or not in_program(s.file) or s.line == event['at']['line'])]
        return found

    def exists(self, name, side, event):
        found = self.steps_of(side, event)
        if found is None or event['at']['line'] not in self.lines:
            return found or None
        self.v.claim(f'explain: {name} is a step of the run', bool(found), f'{event}')
        return found

    def check_cause(self, cause):
        for name in ('use', 'failing_source', 'earlier', 'remote', 'later', 'got', 'beside', 'beside_read', 'freed'):
            self.exists(name, self.fails, cause[name])
        self.exists('passing_source', self.passes, cause['passing_source'])
        if cause['pattern'] in ('too-early', 'overwritten', 'between') and not cause['later_variable']:
            self.check_source('failing', self.fails, cause['use'], cause['failing_source'])
            self.check_source('passing', self.passes, cause['use'], cause['passing_source'])
        if cause['pattern'] == 'too-early':
            self.check_before(cause['use'], cause['passing_source'])
        if cause['pattern'] == 'between' and cause['later_variable']:
            self.check_split(cause)
        elif cause['pattern'] == 'between':
            self.check_between(cause)
        if cause['pattern'] == 'use-after-free':
            self.check_freed(cause)
        if cause['beside']:
            self.check_beside(cause)
        if cause['check']:
            self.check_check(cause['check'])
        for name in ('use', 'earlier', 'remote', 'later'):
            self.check_locks(name, cause[name])
        self.check_kind(cause)
        for wait in cause['waits']:
            self.check_wait(wait)

    # "T reads 3, written by U at a.cc:7"
    def check_source(self, which, side, use, source):
        uses = self.steps_of(side, use)
        if self.optimised or not uses or not source:
            return
        writers = set()
        for index, step in uses:
            before = [s for _, s in side.steps[:index]
                      if s.kind in ('write', 'update', 'free') and overlap(s, step)]
            writers.add((before[-1].thread, before[-1].line) if before else None)
        told = None if source['what'] == 'start' else (source['thread'], source['at'] and source['at']['line'])
        if told is not None and told[1] not in self.lines:
            return  # not an access that is a step: an initialiser, a library
        # What main did before its first thread may be no step.
        self.v.claim(f'explain: who wrote what is used in the {which} run',
                     told in writers or (None in writers and told is not None and told[0] == 'T0'),
                     f'{told}, not {writers}')

    # "T reads x at a.cc:5 before U has written it at a.cc:9"
    def check_before(self, use, missed):
        uses = self.steps_of(self.fails, use)
        writes = self.steps_of(self.fails, missed)
        if not uses or not writes:
            return
        self.v.claim('explain: the use comes before the write that it misses',
                     any(i < k for i, u in uses for k, w in writes if overlap(u, w)) or
                     not any(overlap(u, w) for _, u in uses for _, w in writes), f'{use} {missed}')

    # "U writes x between two accesses of T"
    def check_between(self, cause):
        events = [self.steps_of(self.fails, cause[name]) for name in ('earlier', 'remote', 'later')]
        if not all(events):
            return
        self.v.claim('explain: the one comes between two of the other',
                     any(a < b < c and overlap(x, y) and overlap(y, z) and x.thread == z.thread != y.thread
                         for a, x in events[0] for b, y in events[1] for c, z in events[2]),
                     f'{[cause[n]["at"]["line"] for n in ("earlier", "remote", "later")]}')

    # "U writes x between two steps of T, which reads x and writes y"; "U reads y as well"
    def check_split(self, cause):
        first, last, one, two = [self.steps_of(self.fails, cause[name]) for name in ('earlier', 'later', 'remote', 'remote_too')]
        if not (first and last and one and two):
            return
        self.v.claim('explain: the one comes between two steps of the other',
                     any(a < b and c < d and (a < c or b < d) and w.thread == z.thread != x.thread == y.thread and
                         (overlap(w, x) and overlap(y, z))
                         for a, w in first for d, z in last
                         for b, x in one + two for c, y in one + two),
                     f'{[cause[n]["at"]["line"] for n in ("earlier", "remote", "remote_too", "later")]}')

    # "T reads x at a.cc:5 after U has freed that memory at a.cc:9"
    def check_freed(self, cause):
        uses = self.steps_of(self.fails, cause['use'])
        frees = self.steps_of(self.fails, cause['failing_source'])
        if not uses or not frees:
            return
        self.v.claim('explain: the use comes after the release', any(k < i for i, _ in uses for k, _ in frees),
                     f'{cause["use"]} {cause["failing_source"]}')

    # "T sees x new, at a.cc:5, and y old, at a.cc:6: U writes the one at a.cc:9 and the other only later, at a.cc:10"
    def check_beside(self, cause):
        reads = self.steps_of(self.fails, cause['beside_read'])
        writes = self.steps_of(self.fails, cause['beside'])
        if reads and writes:
            later = cause['beside_missed']
            self.v.claim('explain: what is read beside it is written before, or only afterwards',
                         any((i < k) == later and overlap(r, w) and r.thread != w.thread for i, r in reads for k, w in writes),
                         f'{cause["beside_read"]} {cause["beside"]}')

    # "T goes by x, which it has read at a.cc:5; U has written it since, at a.cc:9"
    def check_check(self, check):
        reads = self.steps_of(self.fails, check['read'])
        writes = self.steps_of(self.fails, check['write'])
        if reads and writes:
            self.v.claim('explain: another has written since what it goes by',
                         any(i < k and overlap(r, w) and r.thread != w.thread for i, r in reads for k, w in writes), f'{check}')

    def held(self, index, thread):
        held = []
        for _, s in self.fails.steps[:index]:
            if s.thread != thread:
                continue
            if s.kind == 'lock':
                held.append(s.object)
            elif s.kind == 'unlock' and s.object in held:
                held.remove(s.object)
        return held

    # "T0.1 holds `a` there, T0.2 no lock and then `b`"
    def check_locks(self, name, event):
        found = self.steps_of(self.fails, event)
        if not found or self.optimised:
            return
        # An attempt that failed is a step, too, and one by which a lock is taken in a library is none.
        counts = {len(set(self.held(i, s.thread))) for i, s in found}
        self.v.claim(f'explain: locks held at {name}', any(len(event['locks']) <= n for n in counts),
                     f'{event["locks"]}, but {counts} at {event["at"]["line"]}')

    def check_kind(self, cause):
        if cause['pattern'] != 'between':
            return
        events = [cause[name] for name in ('earlier', 'remote', 'later')]
        locks = [set(l for l in e['locks'] if l) for e in events]
        if cause['kind'] == 'data-race' and 'keeps none of them out' not in self.text:
            self.v.claim('explain: a data race: no lock that all hold', not (locks[0] & locks[1] & locks[2]), f'{locks}')

    def check_wait(self, wait):
        told = wait['wait']
        last = [s for _, s in self.fails.steps if s.thread == told['thread']]
        if not told['at'] or not last or told['at']['line'] not in self.lines:
            return
        self.v.claim('explain: a thread waits there at the end',
                     last[-1].kind in ('lock', 'wait', 'join') and (self.optimised or not in_program(last[-1].file) or last[-1].line == told['at']['line']),
                     f'{told["thread"]} at {told["at"]["line"]}, not {last[-1]}')
        signal = wait['signal']
        if signal and signal['at'] and last[-1].kind == 'wait':
            mine = max(i for i, (_, s) in enumerate(self.fails.steps) if s.thread == told['thread'])
            signals = [i for i, (_, s) in enumerate(self.fails.steps) if s.kind == 'signal' and s.object == last[-1].object]
            # A thread can be preempted in the call of its wait, before it waits.
            if signals and wait['signal_before']:
                self.v.claim('explain: the last signal came before the wait', signals[-1] < mine, f'{wait}')
            woken = wait['woken']
            if signals and woken:
                before = [s for _, s in self.fails.steps[:signals[-1]] if s.thread == woken['thread']]
                after = [s for _, s in self.fails.steps[signals[-1]:] if s.thread == woken['thread']]
                self.v.claim('explain: the woken thread waited there when the signal came, and ran on', bool(before) and before[-1].kind == 'wait' and
                             before[-1].object == last[-1].object and bool(after), f'{wait}')

    # ---- the story
    def check_story(self, step):
        line = step['at']['line']
        if self.optimised or line not in self.lines or step['branch'] or not step['variable']:
            return
        if re.fullmatch(r'r\d+', step['variable']):
            return  # a local variable of the generator's: what is done to it is no step
        side = self.passes if step['only'] == 'passing' else self.fails
        self.v.claim('explain: the thread of a step executes its line',
                     any(s.thread == step['thread'] and s.line == line for _, s in side.steps if in_program(s.file)) or
                     self.executes_elsewhere(line), f'{step["thread"]} at {line} ({step["only"]})')

    def executes_elsewhere(self, line):
        """A line may also have instructions that are no steps, such as a branch on a local variable."""
        return not any(s.line == line and s.kind in ('read', 'write', 'update') for side in (self.fails, self.passes)
                       for _, s in side.steps)

    def check_root(self):
        told = {(at['file'], at['line']) for at in self.j['root']}
        self.v.claim('explain: an explanation has lines of its cause', bool(told) == self.j['explained'], f'{told}')


def overlap(a, b):
    first, second = int(a.object, 16), int(b.object, 16)
    return first < second + max(b.size, 1) and second < first + max(a.size, 1)


def in_program(file):
    return not file.startswith('/usr') and file != '-'
