"""A session in gdb, as a user would have it: break, print, watch, goto, thread, reverse.

Read by gdb (gdb.sh) in `clew replay --gdb`, stopped at main. GDB_CASE: "function|arguments|watched|changes|thread":
where to break, what the arguments must be (NAME=VALUE, the first time that it stops there), the expression to watch,
how many of its changes there are at least, and a thread that is there then. Prints a line for each check.
"""

import os

import gdb

FUNCTION, ARGUMENTS, WATCHED, CHANGES, THREAD = os.environ["GDB_CASE"].split("|")
failed = 0


def check(what, condition, detail=""):
    global failed
    if condition:
        print(f"ok: {what}")
    else:
        failed += 1
        print(f"FAILED: {what} {detail}")


def run(command):
    text = gdb.execute(command, to_string=True)
    print(text, end="")
    return text


def refused(command):
    """The error of a command that must fail."""
    try:
        run(command)
    except gdb.error as error:
        return str(error)
    return ""


def clock():
    return int(run("clew clock").split()[1])


def place():
    """Where the program is: equal only at the same moment."""
    names = "rip", "rsp", "rbp", "rbx"
    return clock(), gdb.selected_thread().name, *(int(gdb.parse_and_eval(f"(long)${name}")) for name in names)


def value(expression):
    return str(gdb.parse_and_eval(expression))


last_stop = None


def note_stop(event):
    global last_stop
    last_stop = event


def at_end():
    """The last stop was none of a breakpoint, a watchpoint or a signal."""
    return not isinstance(last_stop, (gdb.BreakpointEvent, gdb.SignalEvent))


def arguments():
    run(f"break {FUNCTION}")
    run("continue")
    check("break stops in the function", FUNCTION.split("::")[-1] in (gdb.selected_frame().name() or ""))
    for argument in filter(None, ARGUMENTS.split(",")):
        name, expected = argument.split("=")
        check(f"{name} prints right", value(name) == expected, value(name))


def steps():
    """What goes back comes to where it was."""
    start = place()
    run("stepi")
    check("stepi moves on", place() != start)
    run("reverse-stepi")
    check("reverse-stepi comes back", place() == start, f"{place()} {start}")
    run("next")
    after = place()
    run("reverse-next")
    check("reverse-next goes back", place() < after)
    run("next")
    check("next after it comes to the same place", place() == after, f"{place()} {after}")
    run("reverse-continue")
    check("reverse-continue comes to the breakpoint", place() == start, f"{place()} {start}")


def watch():
    """The changes of a variable, whoever makes them; and back."""
    run("delete")
    run("tbreak main")
    run("run")
    run(f"watch {WATCHED}")
    changes = []
    while len(changes) < 4:
        run("continue")
        if at_end():
            break
        if isinstance(last_stop, gdb.BreakpointEvent):
            changes.append((clock(), gdb.selected_thread().name, value(WATCHED)))
    check("watch sees changes", len(changes) >= int(CHANGES), changes)
    check("... at different clocks", len({change[0] for change in changes}) == len(changes), changes)
    values = [change[2] for change in changes]
    back = []
    for _ in changes:
        run("reverse-continue")
        if isinstance(last_stop, gdb.BreakpointEvent):
            back.append(value(WATCHED))
    check("reverse-continue undoes each change", back[: len(values) - 1] == values[-2::-1], f"{values} {back}")
    run("delete")


def goto():
    run(f"clew goto {clock() // 2 + 10}")
    here, shown = place(), value(WATCHED)
    check("goto comes to the clock", here[0] == int(run("clew clock").split()[1]))
    run("clew goto 1")
    check("goto goes back", clock() == 1)
    run(f"clew goto {here[0]}")
    check("goto comes to the same place again", place() == here and value(WATCHED) == shown)
    message = refused("clew goto 99999999")
    check("a clock past the end is refused", "past the end" in message, message)
    message = refused("clew goto nonsense")
    check("what is no clock is refused", "is not a clock" in message, message)


def threads():
    run(f"tbreak {FUNCTION}")
    run("run")
    run(f"clew thread {THREAD}")
    check("clew thread selects a thread", gdb.selected_thread().name == THREAD)
    names = []
    frame = gdb.selected_frame()
    while frame is not None:
        names.append(frame.name())
        frame = frame.older()
    check("... with its frames", "main" in names, names)
    message = refused("clew thread T0.99")
    check("an unknown thread is refused", "there is no thread T0.99" in message, message)
    listed = run("clew threads")
    check("clew threads lists all", THREAD in listed and "main" in listed, listed)
    check("no traceback", "Traceback" not in listed)


def changes_are_undone():
    run("delete")
    run(f"break {FUNCTION}")
    run("run")
    before = place()
    check("a function can be called", value("(int)abs(-7)") == "7")
    run("stepi")
    run("reverse-stepi")
    check("a call from gdb changes nothing", place() == before, f"{place()} {before}")


def end():
    run("delete")
    run("continue")
    while not at_end():
        run("continue")
    last = clock()
    run("reverse-stepi")
    check("from the end it goes back", clock() <= last)


gdb.execute("set pagination off")
gdb.events.stop.connect(note_stop)
for part in arguments, steps, watch, goto, threads, changes_are_undone, end:
    try:
        part()
    except gdb.error as error:
        check(part.__name__, False, f"gdb: {error}")
print(f"failed: {failed}")
