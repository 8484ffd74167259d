"""gdb command `clew`: the program's threads, which are fibers that gdb does not know.

Reads the table that clew's runtime keeps (runtime/record/debug_table.cc). A thread that does not
run is shown by pointing the registers at where it is parked, for the length of one backtrace.
"""

import gdb

STATES = ["running", "runnable", "blocked", "finished", "not started"]
ENTRY_SIZE = 32 + 5 * 8
REGISTERS = ("rsp", "rip", "rbp")


class Fiber:
    def __init__(self, index, memory):
        self.index = index
        self.id = bytes(memory[:32]).split(b"\0")[0].decode(errors="replace")
        numbers = [int.from_bytes(memory[at : at + 8], "little") for at in range(32, ENTRY_SIZE, 8)]
        self.registers = dict(zip(REGISTERS, numbers[:3]))
        self.state = STATES[numbers[3]] if numbers[3] < len(STATES) else "?"
        self.in_use = numbers[4] != 0


def address_of(symbol):
    try:
        return int(gdb.parse_and_eval(f"(unsigned long)&{symbol}"))
    except gdb.error:
        raise gdb.GdbError("this program does not run under clew, or not yet") from None


def read_number(symbol):
    memory = gdb.selected_inferior().read_memory(address_of(symbol), 8)
    return int.from_bytes(bytes(memory), "little")


def fibers():
    count = min(read_number("clew_debug_fiber_count"), 4096)
    base = address_of("clew_debug_fibers")
    inferior = gdb.selected_inferior()
    for index in range(count):
        memory = inferior.read_memory(base + index * ENTRY_SIZE, ENTRY_SIZE).tobytes()
        yield Fiber(index, memory)


class Parked:
    """The registers of another fiber, for a `with` block."""

    def __init__(self, fiber):
        self.fiber = fiber

    def __enter__(self):
        gdb.execute("frame 0", to_string=True)
        self.saved = {name: int(gdb.parse_and_eval(f"(unsigned long)${name}")) for name in REGISTERS}
        self.set(self.fiber.registers)

    def __exit__(self, *_):
        self.set(self.saved)
        gdb.execute("frame 0", to_string=True)

    @staticmethod
    def set(registers):
        # The stack pointer last: gdb's frame cache is rebuilt with each.
        for name in ("rip", "rbp", "rsp"):
            gdb.execute(f"set ${name} = {registers[name]:#x}", to_string=True)


def in_runtime(frame):
    return (gdb.solib_name(frame.pc()) or "").endswith("/libclew_rt.so")


def backtrace():
    """Prints the program's own frames: from where it entered clew's runtime to where that started it."""
    inside = []
    frame = gdb.newest_frame()
    while frame is not None and len(inside) < 100:
        inside.append(in_runtime(frame))
        frame = frame.older()
    first = inside.index(False) if False in inside else 0
    last = inside.index(True, first) if True in inside[first:] else len(inside)
    level = -1
    for line in gdb.execute(f"backtrace {len(inside)}", to_string=True).splitlines():
        if line.startswith("#"):
            level = int(line[1:].split()[0])
        if first <= level < last:
            gdb.write(f"    {line}\n")


class Clew(gdb.Command):
    """List the threads of a program under clew, with their backtraces.

    clew            all threads
    clew T0.2       this one"""

    def __init__(self):
        super().__init__("clew", gdb.COMMAND_STACK)

    def invoke(self, argument, _from_tty):
        wanted = argument.strip()
        current = read_number("clew_debug_current")
        # A thread that never was parked is not in the table, and can only be the one that runs.
        known = [fiber for fiber in fibers() if fiber.id]
        listed = [fiber for fiber in known if wanted in ("", fiber.id)]
        for fiber in listed:
            self.show(fiber, current)
        if not wanted and all(fiber.index != current for fiber in known):
            gdb.write("T0  running\n" if not known else "running now, for the first time\n")
            backtrace()
        if wanted and not listed:
            raise gdb.GdbError(f"there is no thread {wanted}")

    @staticmethod
    def show(fiber, current):
        if fiber.index == current:
            gdb.write(f"{fiber.id}  running\n")
            backtrace()
        elif not fiber.in_use:
            gdb.write(f"{fiber.id}  finished\n")
        else:
            gdb.write(f"{fiber.id}  {fiber.state}\n")
            if fiber.registers["rip"] != 0:
                with Parked(fiber):
                    backtrace()


Clew()
