"""Small programs with threads, made from a seed: as C++ (emit) and as a model (flatten).

A program is made of statements. Each becomes one or more lines of C++ and one or more steps of the
model (model.py), in which every access to memory that threads share is one step.
"""
import random

HEADER = """\
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <clew/clew.h>

// With PROBE nothing is checked, and the program returns a number that depends on what its threads
// saw; noting that is no event. Without it there are no regions without yield points.
#ifdef PROBE
static unsigned g_seen;
CLEW_NO_YIELD static void note(unsigned value) { g_seen += value; }
CLEW_NO_YIELD static int finish() { return 1 + static_cast<int>(g_seen % 97); }
#define FAILS(condition) false
#else
#define note(value) static_cast<void>(0)
#define finish() 0
#define FAILS(condition) (!(condition))
#endif
#define CHECK(condition) assert(!FAILS(condition))
#define CHECK_THROW(condition) do { if (FAILS(condition)) throw 1; } while (0)
#define CHECK_ABORT(condition) do { if (FAILS(condition)) abort(); } while (0)
#define CHECK_CRASH(condition) do { if (FAILS(condition)) __builtin_trap(); } while (0)
struct Box { int value; };
"""


class Program:
    """What was drawn: memory, threads and main as lists of statements."""

    def __init__(self, seed):
        self.seed = seed
        self.plain = []
        self.atomics = []
        self.mutexes = []
        self.conditions = []  # (condition, mutex, flag)
        self.box = False
        self.local = False  # a thread_local variable is reached by others
        self.threads = []
        self.main_between = []
        self.main_after = []
        self.joined = []
        self.helpers = []
        self.style = 'pthread'
        self.fails_by = 'assert'  # or 'exit', of main
        self.check = 'CHECK'
        self.semaphore = False
        self.rwlock = False
        self.crowded = False  # several statements in a line
        self.checks = {}  # probe -> (relation, value)


class Drawing:
    """Draws statements."""

    def __init__(self, rng, program):
        self.rng = rng
        self.p = program
        self.registers = 0

    def register(self):
        self.registers += 1
        return f'r{self.registers - 1}'

    def value(self, regs):
        if regs and self.rng.random() < 0.5:
            return (self.rng.choice(regs), self.rng.choice([0, 1, 1, 2]))
        return (None, self.rng.choice([1, 2, 3, 5]))

    def access(self, regs):
        rng, p = self.rng, self.p
        roll = rng.random()
        if p.atomics and rng.random() < 0.3:
            cell = rng.choice(p.atomics)
            if roll < 0.3:
                reg = self.register()
                regs.append(reg)
                return [('load', reg, cell), ('probe', reg)]
            if roll < 0.6:
                return [('store', cell, self.value(regs))]
            if roll < 0.85:
                return [('fetch_add', cell, rng.choice([1, 2]))]
            reg = self.register()
            return [('cas', reg, cell, rng.choice([0, 0, 1]), rng.choice([2, 4]))]
        cell = rng.choice(p.plain)
        if roll < 0.35:
            reg = self.register()
            regs.append(reg)
            return [('read', reg, cell), ('probe', reg)]
        if roll < 0.7:
            return [('write', cell, self.value(regs))]
        if roll < 0.9 or len(p.plain) < 2:
            return [('increment', cell, rng.choice([1, 1, 2]))]
        other = rng.choice([c for c in p.plain if c != cell])
        return [('copy', cell, other, rng.choice([0, 1]))]

    def piece(self, regs, depth, held):
        rng, p = self.rng, self.p
        roll = rng.random()
        free = [m for m in p.mutexes if m not in held]
        if roll < 0.2 and free and depth < 2:
            mutex = rng.choice(free)
            body = self.body(rng.randint(1, 2), regs, depth + 1, held + [mutex])
            return [('locked', mutex, body)]
        if roll < 0.22 and p.rwlock and depth == 0 and not held:
            kind = rng.choice(['rdlock', 'wrlock'])
            return [('rwlocked', kind, self.body(1, regs, 2, held + ['rw']))]
        if roll < 0.24 and free and depth < 2:
            mutex = rng.choice(free)
            inner = list(regs)
            return [('tried', mutex, self.body(1, inner, 2, held + [mutex]))]
        if roll < 0.3 and p.semaphore and depth == 0 and not held:
            return [(rng.choice(['post', 'post', 'take']),)]
        if roll < 0.28 and depth < 2:
            reg = self.register()
            cell = rng.choice(p.plain)
            inner = list(regs)
            body = self.body(1, inner, depth + 1, held)
            return [('if', reg, cell, rng.choice(['==', '!=']), rng.choice([0, 1]), body)]
        if roll < 0.33 and depth == 0:
            inner = list(regs)
            return [('loop', 2, self.body(1, inner, depth + 1, held))]
        if roll < 0.40 and depth == 0:
            inner = []
            body = [s for s in self.body(1, inner, 2, held)]
            if not uses_registers(body):
                p.helpers.append(body)
                return [('call', len(p.helpers) - 1)]
            return self.access(regs)
        if roll < 0.52 and p.box:
            return rng.choice([[('use_box', self.register())], [('use_box', self.register())],
                               [('release_box',)], [('trust_box', self.register())]])
        if roll < 0.56 and len(p.plain) > 1:
            cell, other = rng.sample(p.plain, 2)
            return [('block', cell, other)]
        if roll < 0.6:
            return [('element', rng.choice(p.plain), rng.choice([0, 1]))]
        return self.access(regs)

    def body(self, count, regs, depth, held):
        result = []
        for _ in range(count):
            result += self.piece(regs, depth, held)
        return result


def uses_registers(body):
    return any(s[0] in ('read', 'load', 'cas', 'if', 'use_box', 'trust_box', 'probe') or
               (s[0] in ('write', 'store') and s[2][0]) or
               (s[0] in ('locked', 'loop', 'tried', 'rwlocked') and uses_registers(s[-1])) for s in body)


def draw(seed):
    rng = random.Random(seed)
    p = Program(seed)
    p.plain = ['x', 'y', 'z'][:rng.randint(1, 3)]
    p.atomics = ['a', 'b'][:rng.choice([0, 0, 1, 1, 2])]
    p.mutexes = ['m', 'n'][:rng.choice([0, 1, 1, 2])]
    p.box = rng.random() < 0.2
    p.style = rng.choice(['pthread', 'pthread', 'std'])
    p.fails_by = rng.choice(['assert', 'assert', 'exit'])
    p.crowded = rng.random() < 0.3
    p.check = rng.choice(['CHECK'] * 5 + ['CHECK_THROW', 'CHECK_ABORT', 'CHECK_CRASH'])
    p.semaphore = rng.random() < 0.15
    p.rwlock = rng.random() < 0.15
    count = 2 if rng.random() < 0.75 else 3
    drawing = Drawing(rng, p)
    size = {2: (2, 4), 3: (1, 2)}[count]
    waits = p.mutexes and rng.random() < 0.2
    if waits:
        p.conditions = [('c', 'm', 'ready')]
    if rng.random() < 0.15:
        p.local = True
    for index in range(count):
        regs = []
        body = drawing.body(rng.randint(*size), regs, 0, [])
        if p.conditions and index == 0:
            kind = rng.choice(['while', 'while', 'if', 'plain'])
            body.insert(rng.randint(0, len(body)), ('wait', kind))
        if p.conditions and index == 1:
            kind = rng.choice(['locked', 'locked', 'bare', 'broadcast'])
            body.insert(rng.randint(0, len(body)), ('signal', kind))
        if p.local and index == 1:
            body.insert(rng.randint(0, len(body)), ('through', rng.choice([4, 6])))
        p.threads.append(body)
    if rng.random() < 0.2:
        p.main_between = drawing.body(1, [], 1, [])
    if p.local:  # of main: what other threads reach exists until the end
        reg = drawing.register()
        p.main_between += rng.choice([[], [('own_add',)]]) + [('own_read', reg), ('probe', reg)]
    p.joined = [rng.random() < 0.9 for _ in p.threads]
    finals = []
    listed = any('element' in repr(body) for body in p.threads + p.helpers + [p.main_between])
    for cell in p.plain + p.atomics + (['list[0]', 'list[1]'] if listed else []):
        reg = drawing.register()
        finals += [('load' if cell in p.atomics else 'read', reg, cell), ('probe', reg)]
    p.main_after = finals if all(p.joined) else finals[:2]
    return p


class Emitter:
    """C++ and model of a program, statement by statement."""

    def __init__(self, program, name):
        self.p = program
        self.name = name
        self.lines = []
        self.code = []  # of the current thread: instructions of the model
        self.probes = 0
        self.in_main = False
        self.depth = 1
        self.crowded = random.Random(program.seed) if program.crowded else None

    def line(self, text):
        last = self.lines[-1] if self.lines else ''
        if (self.crowded and text.endswith(';') and last.startswith('  ' * self.depth) and
                last.endswith(';') and self.depth > 0 and 'int ' not in last and
                self.crowded.random() < 0.4):
            self.lines[-1] = f'{last} {text}'
            return
        self.lines.append('  ' * self.depth + text if text else '')

    def op(self, *instruction):
        self.code.append(list(instruction))
        return len(self.code) - 1

    def value(self, value):
        reg, constant = value
        return str(constant) if reg is None else f'{reg} + {constant}' if constant else reg

    def body(self, statements):
        for statement in statements:
            getattr(self, 'do_' + statement[0])(*statement[1:])

    # ---- accesses
    def do_read(self, reg, cell):
        self.line(f'{reg} = {cell};')
        self.op('read', reg, cell)

    def do_load(self, reg, cell):
        self.line(f'{reg} = {cell}.load();')
        self.op('read', reg, cell)

    def do_write(self, cell, value):
        self.line(f'{cell} = {self.value(value)};')
        self.op('write', cell, value)

    def do_store(self, cell, value):
        self.line(f'{cell}.store({self.value(value)});')
        self.op('write', cell, value)

    def do_increment(self, cell, by):
        self.line(f'{cell} += {by};' if by != 1 else f'{cell}++;')
        self.op('read', '_t', cell)
        self.op('write', cell, ('_t', by))

    def do_copy(self, cell, other, plus):
        self.line(f'{cell} = {other}{" + 1" if plus else ""};')
        self.op('read', '_t', other)
        self.op('write', cell, ('_t', plus))

    def do_block(self, cell, other):
        self.line(f'memcpy(&{cell}, &{other}, sizeof {cell});')
        self.op('block', cell, other)

    def do_element(self, cell, index):
        # Which element is decided by what was read.
        self.line(f'list[{cell} & 1] = {index + 1};')
        self.op('read', '_t', cell)
        self.op('element', '_t', index + 1)

    def do_fetch_add(self, cell, by):
        self.line(f'{cell}.fetch_add({by});')
        self.op('add', cell, by)

    def do_cas(self, reg, cell, expected, desired):
        self.line(f'{reg} = {expected};')
        self.line(f'{cell}.compare_exchange_strong({reg}, {desired});')
        self.op('cas', reg, cell, expected, desired)

    def do_probe(self, reg):
        number = self.probes
        self.probes += 1
        weight = 2 * number + 1
        self.line(f'note({weight}u * static_cast<unsigned>({reg}));')
        self.op('probe', number, reg, weight)
        check = self.p.checks.get(number)
        if check is None:
            return
        relation, value = check
        if self.in_main and self.p.fails_by == 'exit':
            self.line(f'if (FAILS({reg} {relation} {value})) return 3;')
        else:
            self.line(f'{self.p.check}({reg} {relation} {value});')
        self.op('check', number, reg, relation, value)

    # ---- structure
    def do_locked(self, mutex, body):
        std = self.p.style == 'std'
        if std:
            self.line('{')
            self.depth += 1
            self.line(f'std::lock_guard guard_{mutex}({mutex});')
        else:
            self.line(f'pthread_mutex_lock(&{mutex});')
        self.op('lock', mutex)
        self.body(body)
        self.op('unlock', mutex)
        if std:
            self.depth -= 1
            self.line('}')
        else:
            self.line(f'pthread_mutex_unlock(&{mutex});')

    def do_rwlocked(self, kind, body):
        self.line(f'pthread_rwlock_{kind}(&rw);')
        self.op(kind, 'rw')
        self.body(body)
        self.line('pthread_rwlock_unlock(&rw);')
        self.op('rwunlock', 'rw')

    def do_tried(self, mutex, body):
        std = self.p.style == 'std'
        self.line(f'if ({mutex}.try_lock()) {{' if std else
                  f'if (pthread_mutex_trylock(&{mutex}) == 0) {{')
        jump = self.op('trylock', mutex, None)
        self.depth += 1
        self.body(body)
        self.line(f'{mutex}.unlock();' if std else f'pthread_mutex_unlock(&{mutex});')
        self.op('unlock', mutex)
        self.depth -= 1
        self.line('}')
        self.code[jump][2] = len(self.code)

    def do_post(self):
        self.line('sem_post(&tokens);')
        self.op('post', 'tokens')

    def do_take(self):
        self.line('sem_wait(&tokens);')
        self.op('take', 'tokens')

    def do_if(self, reg, cell, relation, value, body):
        self.op('read', '_t', cell)
        jump = self.op('unless', '_t', relation, value, None)
        self.line(f'if ({cell} {relation} {value}) {{')
        self.depth += 1
        self.body(body)
        self.depth -= 1
        self.line('}')
        self.code[jump][4] = len(self.code)

    def do_loop(self, count, body):
        # The model has it unrolled; probes inside are the same probe.
        self.line(f'for (int i = 0; i < {count}; ++i) {{')
        self.depth += 1
        probes = self.probes
        for turn in range(count):
            once = list(self.lines)
            self.probes = probes
            self.body(body)
            if turn > 0:
                self.lines = once
        self.depth -= 1
        self.line('}')

    def do_call(self, helper):
        self.line(f'helper{helper}();')
        kept, self.lines = self.lines, []
        self.body(self.p.helpers[helper])
        self.lines = kept

    # ---- objects that are released
    def do_use_box(self, reg):
        self.line(f'Box* const {reg}_box = box;')
        self.line(f'if ({reg}_box != nullptr) {{')
        self.line(f'  {reg} = {reg}_box->value;')
        self.line(f'  CHECK({reg} == 11);')
        self.line('}')
        self.op('read', '_t', 'box')
        jump = self.op('unless', '_t', '!=', 0, None)
        self.op('read', reg, 'box_value')
        self.op('check', 'box', reg, '==', 11)
        self.code[jump][4] = len(self.code)

    def do_trust_box(self, reg):
        self.line(f'{reg} = box->value;')
        self.op('read', '_t', 'box')
        self.op('crash', '_t')
        self.op('read', reg, 'box_value')

    def do_release_box(self):
        self.line('if (Box* const old = box; old != nullptr) {')
        self.line('  box = nullptr;')
        self.line('  delete old;')
        self.line('}')
        self.op('read', '_t', 'box')
        jump = self.op('unless', '_t', '!=', 0, None)
        self.op('write', 'box', (None, 0))
        self.op('free')
        self.code[jump][4] = len(self.code)

    # ---- memory of one thread that another reaches
    def do_publish(self):
        self.line('shared_address = &mine;')
        self.op('write', 'shared_address', (None, 1))

    def do_own_read(self, reg):
        self.line(f'{reg} = mine;')
        self.op('read', reg, 'own')

    def do_own_add(self):
        self.line('mine += 1;')
        self.op('read', '_t', 'own')
        self.op('write', 'own', ('_t', 1))

    def do_through(self, value):
        self.line('if (int* const at = shared_address; at != nullptr) {')
        self.line(f'  *at = {value};')
        self.line('}')
        self.op('read', '_t', 'shared_address')
        jump = self.op('unless', '_t', '!=', 0, None)
        self.op('write', 'own', (None, value))
        self.code[jump][4] = len(self.code)

    # ---- conditions
    def do_wait(self, kind):
        std = self.p.style == 'std'
        self.line('{')
        self.depth += 1
        self.line('std::unique_lock held(m);' if std else 'pthread_mutex_lock(&m);')
        self.op('lock', 'm')
        wait = 'c.wait(held);' if std else 'pthread_cond_wait(&c, &m);'
        jump = None
        again = len(self.code)
        if kind != 'plain':
            self.op('read', '_t', 'ready')
            jump = self.op('unless', '_t', '==', 0, None)
            self.line(f'{kind} (ready == 0) {wait}')
        else:
            self.line(wait)
        self.op('wait', 'c', 'm')
        self.op('lock', 'm')
        if kind == 'while':
            self.op('goto', again)
        if jump is not None:
            self.code[jump][4] = len(self.code)
        self.op('unlock', 'm')
        if not std:
            self.line('pthread_mutex_unlock(&m);')
        self.depth -= 1
        self.line('}')

    def do_signal(self, kind):
        std = self.p.style == 'std'
        everyone = kind == 'broadcast'
        signal = ('c.notify_all();' if everyone else 'c.notify_one();') if std else (
            'pthread_cond_broadcast(&c);' if everyone else 'pthread_cond_signal(&c);')
        if kind == 'bare':
            self.line('ready = 1;')
            self.line(signal)
            self.op('write', 'ready', (None, 1))
            self.op('signal', 'c', everyone)
            return
        self.line('{')
        self.depth += 1
        self.line('std::lock_guard guard(m);' if std else 'pthread_mutex_lock(&m);')
        self.op('lock', 'm')
        self.line('ready = 1;')
        self.op('write', 'ready', (None, 1))
        self.line(signal)
        self.op('signal', 'c', everyone)
        self.op('unlock', 'm')
        if not std:
            self.line('pthread_mutex_unlock(&m);')
        self.depth -= 1
        self.line('}')

    # ---- all of it
    def registers_of(self, statements):
        found = []
        for s in statements:
            if s[0] in ('read', 'load', 'cas', 'own_read', 'use_box', 'trust_box'):
                found.append(s[1])
            elif s[0] in ('locked', 'loop', 'if', 'tried', 'rwlocked'):
                found += self.registers_of(s[-1])
        return found

    def function_head(self, statements):
        registers = sorted(set(self.registers_of(statements)), key=lambda r: int(r[1:]))
        if registers:
            self.line('int ' + ', '.join(f'{r} = 0' for r in registers) + ';')
        for register in registers:
            self.line(f'(void){register};')

    def emit(self):
        """Lines of C++ and the model: (lines, threads' code, main's code)."""
        p = self.p
        std = p.style == 'std'
        self.depth = 0
        self.line(f'namespace {self.name} {{')
        for cell in p.plain:
            self.line(f'int {cell} = 0;')
        if any('element' in repr(body) for body in p.threads + p.helpers + [p.main_between]):
            self.line('int list[2] = {0, 0};')
        for cell in p.atomics:
            self.line(f'std::atomic<int> {cell}{{0}};')
        for mutex in p.mutexes:
            self.line(f'std::mutex {mutex};' if std else
                      f'pthread_mutex_t {mutex} = PTHREAD_MUTEX_INITIALIZER;')
        if p.rwlock:
            self.line('pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;')
        if p.semaphore:
            self.line('sem_t tokens;')
        if p.conditions:
            self.line('std::condition_variable c;' if std else
                      'pthread_cond_t c = PTHREAD_COND_INITIALIZER;')
            self.line('int ready = 0;')
        if p.box:
            self.line('Box* box = new Box{11};')
        if p.local:
            self.line('int* shared_address = nullptr;')
            self.line('thread_local int mine = 0;')
        probes_at_start = self.probes
        for number, body in enumerate(p.helpers):
            kept, self.code = self.code, []
            self.line(f'void helper{number}() {{')
            self.depth = 1
            self.body(body)
            self.depth = 0
            self.line('}')
            self.code = kept
        self.probes = probes_at_start
        codes = []
        for number, body in enumerate(p.threads):
            self.code = []
            self.line(f'void thread{number + 1}() {{' if std else f'void* thread{number + 1}(void*) {{')
            self.depth = 1
            self.function_head(body)
            self.body(body)
            if not std:
                self.line('return nullptr;')
            self.depth = 0
            self.line('}')
            codes.append(self.code)
        self.code = []
        self.line('int run() {')
        self.depth = 1
        self.in_main = True
        self.function_head(p.main_between + p.main_after)
        if p.semaphore:
            self.line('sem_init(&tokens, 0, 1);')
            self.op('write', 'tokens', (None, 1))
        if p.local:
            self.do_publish()
        for number in range(len(p.threads)):
            if std:
                self.line(f'std::thread t{number + 1}(thread{number + 1});')
            else:
                self.line(f'pthread_t t{number + 1};')
                self.line(f'pthread_create(&t{number + 1}, nullptr, thread{number + 1}, nullptr);')
            self.op('create', number)
        self.body(p.main_between)
        for number, joined in enumerate(p.joined):
            if joined:
                self.line(f't{number + 1}.join();' if std else f'pthread_join(t{number + 1}, nullptr);')
                self.op('join', number)
            elif std:
                self.line(f't{number + 1}.detach();')
        self.body(p.main_after)
        self.line('return finish();')
        self.op('finish')
        self.op('exit')
        self.depth = 0
        self.line('}')
        self.line(f'}}  // namespace {self.name}')
        return self.lines, codes, self.code


def translation_unit(names):
    """One file of C++ that includes several programs, of which its first argument selects one."""
    text = HEADER + ''.join(f'#include "{name}.cpp"\n' for name in names)
    text += '\nint main(int, char** argv) {\n'
    text += '  switch (atoi(argv[1] + 1)) {\n'
    for name in names:
        text += f'    case {name[1:]}: return {name}::run();\n'
    return text + '  }\n  return 2;\n}\n'
