"""What the scripts of bench/hunt share: the programs, building them, one hunt."""
import dataclasses
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CLEW = os.environ.get("CLEW", str(ROOT / "build/bin/clew"))
CLANG = os.environ.get("CLEW_CLANG", "clang-19")
CLANGXX = os.environ.get("CLEW_CLANGXX", "clang++-19")


@dataclasses.dataclass
class Program:
    """A line of programs.txt, or a passing program of the tests."""
    name: str
    source: pathlib.Path
    args: list
    kind: str = "-"
    best: float | None = None  # published mean schedules to the first failure
    worst: float | None = None
    limit: int = 10000
    flags: list = dataclasses.field(default_factory=list)


def fail(message):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


def language_flags(source):
    return ["-O1", "-std=gnu17" if source.suffix == ".c" else "-std=c++20"]


def lines_of(path):
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.split()


def hunt_programs(only=None):
    """The programs of programs.txt; with `only` those whose names begin with it."""
    number = lambda text: None if text == "-" else float(text)
    programs = []
    for name, source, args, kind, best, worst, limit in lines_of(HERE / "programs.txt"):
        path = HERE / "programs" / source
        programs.append(Program(name, path, [] if args == "-" else args.split(","), kind,
                                number(best), number(worst), int(limit), language_flags(path)))
    return select(programs, only)


def test_programs(wanted, only=None):
    """The programs that the tests list with this verdict."""
    programs = []
    for verdict, path, kind, granularity, *flags in lines_of(ROOT / "tests/programs/programs.txt"):
        if verdict != wanted:
            continue
        source = ROOT / path
        flags = (flags or language_flags(source)) + [f"-fclew-yield={granularity}"]
        programs.append(Program(source.stem, source, [], kind, flags=flags))
    return select(programs, only)


def passing_programs(only=None):
    return test_programs("pass", only)


def failing_programs(only=None):
    return test_programs("fail", only)


def select(programs, only):
    if only is None:
        return programs
    exact = [program for program in programs if program.name == only]
    return exact or [program for program in programs if program.name.startswith(only)]


def work_folder():
    if not os.access(CLEW, os.X_OK):
        fail("build first: scripts/setup")
    return pathlib.Path(tempfile.mkdtemp(prefix="bench-hunt."))


def compile_with(compiler, program, target, extra=()):
    command = [*compiler, "-g", "-pthread", *program.flags, *extra, str(program.source), "-o", str(target)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        fail(f"{' '.join(command)}\n{done.stderr}")


def build(program, folder, fixed=False):
    """Builds with clew, once for each source; returns the command line."""
    target = folder / (program.source.name.replace(".", "_") + ("_fixed" if fixed else ""))
    if program.source.parent != HERE / "programs":
        target = target.with_name("test_" + target.name)
    if not target.exists():
        compiler = [CLEW, "cc" if program.source.suffix == ".c" else "c++"]
        compile_with(compiler, program, target, ["-DFIXED"] if fixed else [])
    return [str(target), *program.args]


def build_native(program, folder, fixed=False):
    target = folder / (program.source.name.replace(".", "_") + "_native")
    compiler = [CLANG if program.source.suffix == ".c" else CLANGXX]
    compile_with(compiler, program, target, ["-DFIXED"] if fixed else [])
    return [str(target), *program.args]


@dataclasses.dataclass
class Hunt:
    result: dict  # the JSON; empty if there was none
    error: str    # the end of standard error
    wall: float
    cpu: float    # of clew and all the processes that it waited for

    @property
    def found(self):
        return self.result.get("outcome") == "found"

    @property
    def first_schedule(self):
        """The number of the first failing schedule, from 1; None if there was none."""
        if not self.found:
            return None
        return min(failure["first_schedule"] for failure in self.result["failures"])


def hunt(command, options, folder, prefix=(), timeout=None):
    """One hunt in `folder`, which keeps its .clew. The standard output is discarded."""
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "hunt.json"
    report.unlink(missing_ok=True)
    line = [*prefix, CLEW, "hunt", "--json", str(report), *map(str, options), "--", *command]
    with open(folder / "stderr", "w+") as errors:
        start = time.monotonic()
        process = subprocess.Popen(line, cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=errors)
        usage = wait_for(process, timeout)
        wall = time.monotonic() - start
        errors.seek(0)
        error = errors.read()[-2000:]
    try:
        result = json.loads(report.read_text())
    except (OSError, ValueError):
        result = {}
    return Hunt(result, error, wall, usage.ru_utime + usage.ru_stime)


def wait_for(process, timeout):
    """Waits for a process and returns its resource usage. Interrupts it after the timeout, and kills it ten seconds later."""
    if timeout is not None:
        for patience, number in ((timeout, signal.SIGINT), (10, signal.SIGKILL)):
            usage = wait_until(process, time.monotonic() + patience)
            if usage is not None:
                return usage
            process.send_signal(number)
    return ended(process, os.wait4(process.pid, 0))


def wait_until(process, end):
    while time.monotonic() < end:
        usage = ended(process, os.wait4(process.pid, os.WNOHANG))
        if usage is not None:
            return usage
        time.sleep(0.01)
    return None


def ended(process, waited):
    pid, status, usage = waited
    if pid == 0:
        return None
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


def run_native(command, prefix=()):
    """Runs a command to its end: seconds of wall time and of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run([*prefix, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    wall = time.monotonic() - start
    if done.returncode != 0:
        fail(f"{' '.join(command)} ended with {done.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no output"


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
