"""All that a program can do, by its model: every access is one step, any thread that can run may
run next. States that are the same are visited once, so that programs can be explored whose
schedules are too many to list.
"""
from collections import deque

RELATIONS = {'==': lambda a, b: a == b, '!=': lambda a, b: a != b,
             '<': lambda a, b: a < b, '<=': lambda a, b: a <= b}
FREED = 'freed'
# Not steps: they follow the step before them.
LOCAL = ('unless', 'goto', 'probe', 'check', 'crash', 'finish')
RUNNING, WAITING, ENDED, NOT_CREATED = 'running', 'waiting', 'ended', 'not created'


class TooLarge(Exception):
    pass


class NotModelled(Exception):
    """The program does something that the model knows nothing of."""


class Model:
    """State: (threads, memory, locks, running thread). A thread: (status, pc, registers)."""

    def __init__(self, threads, main):
        self.codes = [main] + threads

    def start(self):
        threads = tuple((RUNNING if i == 0 else NOT_CREATED, 0, ()) for i in range(len(self.codes)))
        return (threads, (('box', 1), ('box_value', 11)), (), 0)

    def enabled(self, state, t):
        threads, _, locks, _ = state
        status, pc, _ = threads[t]
        if status != RUNNING:
            return False
        if pc >= len(self.codes[t]):
            return True  # it is about to end
        op = self.codes[t][pc]
        if op[0] == 'lock':
            return all(held != op[1] for held, _ in locks)
        if op[0] in ('rdlock', 'wrlock'):
            return self.can_lock_rw(locks, op)
        if op[0] == 'take':
            return dict(state[1]).get(op[1], 0) > 0
        if op[0] == 'join':
            return threads[op[1] + 1][0] == ENDED
        return True

    @staticmethod
    def can_lock_rw(locks, op):
        held = dict(locks).get(op[1], ())
        return not held or (op[0] == 'rdlock' and held[0] == 'rdlock')

    def step(self, state, t, seen, probing):
        """The state after thread t's next step, or a string: how the run ended."""
        threads, memory, locks, _ = state
        threads, memory, locks = list(threads), dict(memory), dict(locks)
        status, pc, registers = threads[t]
        registers = dict(registers)
        code = self.codes[t]

        def get(value):
            reg, constant = value
            if reg is None:
                return constant
            known = registers.get(reg, 0)
            return known if known == FREED else known + constant

        if pc >= len(code):
            threads[t] = (ENDED, pc, ())
            return (tuple(threads), tuple(sorted(memory.items(), key=str)), tuple(sorted(locks.items(), key=str)), t)
        op = code[pc]
        pc += 1
        kind = op[0]
        if kind == 'read':
            registers[op[1]] = memory.get(op[2], 0)
        elif kind == 'write':
            memory[op[1]] = get(op[2])
        elif kind == 'add':
            memory[op[1]] = memory.get(op[1], 0) + op[2]
        elif kind == 'cas':
            _, reg, cell, expected, desired = op
            registers[reg] = memory.get(cell, 0)
            if memory.get(cell, 0) == expected:
                memory[cell] = desired
        elif kind == 'lock':
            locks[op[1]] = t
        elif kind in ('rdlock', 'wrlock'):
            locks[op[1]] = (kind,) + locks.get(op[1], (kind,))[1:] + (t,)
        elif kind == 'rwunlock':
            left = tuple(x for x in locks[op[1]][1:] if x != t)
            locks[op[1]] = locks[op[1]][:1] + left
            if not left:
                del locks[op[1]]
        elif kind == 'trylock':
            if op[1] in locks:
                pc = op[2]
            else:
                locks[op[1]] = t
        elif kind == 'post':
            memory[op[1]] = memory.get(op[1], 0) + 1
        elif kind == 'take':
            memory[op[1]] -= 1
        elif kind == 'unlock':
            del locks[op[1]]
        elif kind == 'wait':
            del locks[op[2]]
            status = WAITING
        elif kind == 'signal':
            waiting = [i for i, one in enumerate(threads) if one[0] == WAITING]
            for i in waiting if op[2] else waiting[:1]:
                threads[i] = (RUNNING,) + threads[i][1:]
        elif kind == 'create':
            threads[op[1] + 1] = (RUNNING, 0, ())
        elif kind == 'free':
            memory['box_value'] = FREED
        elif kind == 'block':
            memory[op[1]] = memory.get(op[2], 0)
        elif kind == 'element':
            memory[f'list[{registers[op[1]] & 1}]'] = op[2]
        elif kind == 'exit':
            # The end of a condition variable of C++ waits for those who wait for it.
            if any(one[0] == WAITING for one in threads):
                raise NotModelled()
            return 'exit {}'.format(registers['_result'])
        # What follows without a step of its own.
        while pc < len(code) and code[pc][0] in LOCAL:
            op = code[pc]
            pc += 1
            if op[0] == 'unless':
                if not RELATIONS[op[2]](registers.get(op[1], 0), op[3]):
                    pc = op[4]
            elif op[0] == 'goto':
                pc = op[1]
            elif op[0] == 'probe':
                value = registers.get(op[2], 0)
                seen.setdefault(op[1], set()).add(value)
                memory['seen'] = (memory.get('seen', 0) + op[3] * value) % 97
            elif op[0] == 'finish':
                registers['_result'] = memory.get('seen', 0)
            elif op[0] == 'crash':
                if registers[op[1]] == 0:
                    return 'signal'
            elif op[0] == 'check':
                value = registers.get(op[2], 0)
                seen.setdefault(op[1], set()).add(value)
                if not probing and not RELATIONS[op[3]](value, op[4]):
                    return f'assert {op[1]}'
        threads[t] = (status, pc, tuple(sorted(registers.items())))
        return (tuple(threads), tuple(sorted(memory.items(), key=str)), tuple(sorted(locks.items(), key=str)), t)

    def explore(self, probing=False, most=20000):
        """Outcomes -> the fewest preemptions that lead to each; and the values that probes saw."""
        seen = {}
        outcomes = {}
        start = self.start()
        cost = {start: 0}
        queue = deque([(0, start)])
        while queue:
            preemptions, state = queue.popleft()
            if cost[state] < preemptions:
                continue
            enabled = [t for t in range(len(self.codes)) if self.enabled(state, t)]
            if not enabled:
                outcomes.setdefault('deadlock', preemptions)
            for t in enabled:
                extra = 1 if t != state[3] and state[3] in enabled else 0
                after = self.step(state, t, seen, probing)
                if isinstance(after, str):
                    outcomes[after] = min(outcomes.get(after, 10 ** 9), preemptions + extra)
                    continue
                if cost.get(after, 10 ** 9) <= preemptions + extra:
                    continue
                cost[after] = preemptions + extra
                if len(cost) > most:
                    raise TooLarge()
                (queue.append if extra else queue.appendleft)((preemptions + extra, after))
        return outcomes, seen
