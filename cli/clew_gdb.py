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
        # The stack pointer last: gdb's frame cache is made anew with each.
        for name in ("rip", "rbp", "rsp"):
            gdb.execute(f"set ${name} = {registers[name]:#x}", to_string=True)


class Clew(gdb.Command):
    """List the threads of a program under clew, with their backtraces.

    clew            all threads
    clew T0.2       this one"""

    def __init__(self):
        super().__init__("clew", gdb.COMMAND_STACK)

    def invoke(self, argument, _from_tty):
        wanted = argument.strip()
        current = read_number("clew_debug_current")
        shown = 0
        known = list(fibers())
        if not known:  # the table is filled at the first switch
            gdb.write("T0  running  <== here\n")
            gdb.execute("backtrace 20")
            return
        for fiber in known:
            if wanted and fiber.id != wanted:
                continue
            shown += 1
            here = fiber.index == current
            if not here and not fiber.in_use:
                gdb.write(f"{fiber.id}  finished\n")
                continue
            gdb.write(f"{fiber.id}  {'running  <== here' if here else fiber.state}\n")
            if here:
                gdb.execute("backtrace 20")
            elif fiber.registers["rip"] != 0:
                with Parked(fiber):
                    gdb.execute("backtrace 20")
        if wanted and shown == 0:
            raise gdb.GdbError(f"there is no thread {wanted}")


Clew()
