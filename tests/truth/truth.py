"""The truth about a program: what brute_force found, and answers to further questions."""
import subprocess
from collections import namedtuple

PICK = 1  # the bit of ChoiceKind::kPick (clew_abi/stream.h)
Step = namedtuple('Step', 'thread own kind object size place file line function')
Run = namedtuple('Run', 'preemptions verdict kind key questions interleaving steps')
Decision = namedtuple('Decision', 'clock thread own kind ordinal to file line')


class Answer:
    def __init__(self, verdict, kind, key, preemptions, clock, hash_, steps, decisions):
        self.verdict = verdict
        self.kind = kind
        self.key = key
        self.preemptions = preemptions
        self.clock = clock
        self.hash = hash_
        self.steps = steps  # [(clock, Step)]
        self.decisions = decisions
        self.schedule = None

    def failure(self):
        return failure_of(self.verdict, self.kind, self.key)


def failure_of(verdict, kind, key):
    """What is the same for two runs that fail in the same way; None: the run does not fail."""
    if verdict == 'pass':
        return None
    return (kind, '' if kind in ('deadlock', 'hang') else key)


class Truth:
    def __init__(self, brute_force, most, command):
        self.process = subprocess.Popen([brute_force, str(most)] + command, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.places = {}
        self.steps = {}
        self.runs = []
        self.complete = None  # up to so many preemptions; None: all schedules
        for line in self.process.stdout:
            words = line.split()
            if words[0] == 'end':
                self.complete = None if words[2] == '-1' else int(words[2])
                break
            self.take(words)
        else:
            raise RuntimeError(f'brute_force ended early: {command}')

    def take(self, words):
        if words[0] == 'place':
            self.places[words[1]] = (words[2], int(words[3]), words[4])
        elif words[0] == 'step':
            self.steps[words[1]] = Step(words[2], int(words[3]), words[4], words[5], int(words[6]),
                                        words[7], *self.places[words[7]])
        elif words[0] == 'run':
            self.runs.append(Run(int(words[1]), words[2], words[3], words[4], int(words[5]),
                                 words[6], [self.steps[s] for s in words[8:]]))

    def ask(self, question):
        """The run under a schedule, a script or that of a recording."""
        self.process.stdin.write(question + '\n')
        self.process.stdin.flush()
        schedule = None
        for line in self.process.stdout:
            if line.startswith('schedule '):
                schedule = line[len('schedule '):].strip()
                continue
            words = line.split()
            if words[0] != 'answer':
                self.take(words)
                continue
            colon = words.index(':', 8)
            steps = [(int(w.split('/')[0]), self.steps[w.split('/')[1]]) for w in words[8:colon]]
            decisions = []
            for word in words[colon + 1:]:
                clock, thread, own, kind, ordinal, to, place = word.split('/')
                decisions.append(Decision(int(clock), thread, int(own), int(kind), int(ordinal), to,
                                          *self.places[place][:2]))
            answer = Answer(words[1], words[2], words[3], int(words[4]), int(words[5]), words[6],
                            steps, decisions)
            answer.schedule = schedule
            return answer
        raise RuntimeError('brute_force ended')

    def script(self, items):
        """The run under a script: (thread, own, kind, ordinal, to) for each item."""
        return self.ask('; '.join(' '.join(str(word) for word in item) for item in items))

    def other_answers(self):
        """Whether runs also depend on choices other than who runs next, which are not varied here."""
        return any(run.questions & ~PICK for run in self.runs)

    def within(self, preemptions):
        """Whether all schedules with at most this number of preemptions are known."""
        return self.complete is None or preemptions <= self.complete

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
