"""gdb's command `clew`, for `clew replay --gdb`.

The rest needs no command: the program's threads are gdb's threads, and gdb's own reverse-step, reverse-next,
reverse-finish and reverse-continue go back, because the other end of gdb's connection (host/debug) replays the
recording to an earlier place.
"""

import os

import gdb

HELP = """clew goto CLOCK     go to where an event has just been counted, forward or back (clew show lists clocks)
clew clock          where the program is now
clew thread T0.2    select the thread that clew calls so; also one that does not run
clew threads        all threads, each with its stack (also: clew)
clew help           this text
run                 from the beginning again
reverse-step, reverse-next, reverse-finish, reverse-continue, reverse-stepi (rs, rn, rc, rsi)
                    back in time; breakpoints and watchpoints hold
What is assigned, and what a function called from gdb does, is undone when the program continues."""


def in_runtime(frame):
    return (gdb.solib_name(frame.pc()) or "").endswith("/libclew_rt.so")


def ask(command):
    """What clew answers. An answer that begins with "error:" is one."""
    try:
        answer = gdb.execute("monitor " + command, to_string=True).strip()
    except gdb.error as error:
        raise gdb.GdbError(f"clew does not answer: {error}") from None
    if answer.startswith("error: "):
        raise gdb.GdbError(answer[len("error: ") :])
    return answer


def select_program_frame():
    """The innermost frame that is not clew's own."""
    frame = gdb.newest_frame()
    while frame is not None and in_runtime(frame):
        frame = frame.older()
    if frame is not None:
        frame.select()
    return frame


def forget_caches():
    for what in "register-cache", "dcache", "symbol-cache":
        try:
            gdb.execute(f"maintenance flush {what}", to_string=True)
        except gdb.error:
            pass
    gdb.execute("info threads", to_string=True)


def threads():
    return sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num)


def find_thread(name):
    for thread in threads():
        if thread.name == name:
            return thread
    known = ", ".join(thread.name or "?" for thread in threads())
    raise gdb.GdbError(f"there is no thread {name} now; there are {known}")


def show_frame():
    if select_program_frame() is None:
        raise gdb.GdbError("this thread has no code of the program on its stack")
    gdb.execute("frame")


def goto(argument):
    answer = ask(f"goto {argument}")
    forget_caches()
    number = int(answer.split()[1])
    for thread in threads():
        if thread.ptid[1] == number or thread.ptid[2] == number:
            thread.switch()
    gdb.write(ask("clock") + "\n")
    show_frame()


def select(argument):
    find_thread(argument).switch()
    gdb.write(f"[thread {argument}]\n")
    show_frame()


def list_threads(_argument):
    before = gdb.selected_thread()
    gdb.execute("info threads", to_string=True)
    gdb.write(ask("clock") + "\n")
    for thread in threads():
        thread.switch()
        gdb.write(f"{thread.name}  {thread.details or ''}\n".replace("  \n", "\n"))
        gdb.execute("backtrace")
    if before is not None and before.is_valid():
        before.switch()


COMMANDS = {
    "": list_threads,
    "threads": list_threads,
    "goto": goto,
    "thread": select,
    "clock": lambda _argument: gdb.write(ask("clock") + "\n"),
    "help": lambda _argument: gdb.write(HELP + "\n"),
}
WITH_ARGUMENT = {"goto": "clew goto CLOCK", "thread": "clew thread T0.2"}


class Clew(gdb.Command):
    __doc__ = "A replay under clew.\n\n" + HELP

    def __init__(self):
        super().__init__("clew", gdb.COMMAND_RUNNING)

    def complete(self, text, _word):
        return [name for name in COMMANDS if name and name.startswith(text)]

    def invoke(self, argument, _from_tty):
        name, _, rest = argument.strip().partition(" ")
        rest = rest.strip()
        if name not in COMMANDS and find_by_old_form(name):
            name, rest = "thread", name
        if name not in COMMANDS:
            raise gdb.GdbError(f"clew has no command '{name}' in gdb; clew help lists them")
        if name in WITH_ARGUMENT and not rest:
            raise gdb.GdbError(f"usage: {WITH_ARGUMENT[name]}")
        try:
            COMMANDS[name](rest)
        except gdb.error as error:
            raise gdb.GdbError(str(error)) from None


def find_by_old_form(name):
    """`clew T0.2`."""
    return name.startswith("T") and name[1:].replace(".", "").isdigit()


class WithoutRuntime:
    """Leaves clew's own frames out of backtraces."""

    def __init__(self):
        self.name = "clew"
        self.priority = 100
        self.enabled = True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        return (frame for frame in frames if not in_runtime(frame.inferior_frame()))


def show_program_frame(_event):
    """If the program stops in clew's own code, as it does where it ends: what of the program is there."""
    try:
        if in_runtime(gdb.newest_frame()) and select_program_frame() is not None:
            gdb.execute("frame")
    except gdb.error:
        pass


def skip_runtime():
    """`step` does not enter clew's runtime, which stands in for the threads library."""
    symbol = gdb.lookup_global_symbol("__clew_yield")
    path = symbol.symtab.fullname() if symbol is not None and symbol.symtab is not None else ""
    marker = os.sep + "runtime" + os.sep
    if marker in path:
        folder = path[: path.rindex(marker) + len(marker)]
        gdb.execute(f"skip -gfi {folder}*", to_string=True)


Clew()
WithoutRuntime()
gdb.events.stop.connect(show_program_frame)
try:
    skip_runtime()
except gdb.error:
    pass
gdb.write("clew: a replay; `clew help` lists what can be done with it\n")
