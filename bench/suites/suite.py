"""What the scripts of this folder share: a suite of tests is fetched, built, run natively and under clew, and the runs are compared.

A script derives from `Suite`, says what a test is and how it is built and started, and calls `main`. A test that passes natively must end with the
same status under clew, with every seed, built with clew or not, and its recording must replay."""
import argparse
import collections
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CLEW = os.environ.get("CLEW", str(ROOT / "build/bin/clew"))
CLANG = os.environ.get("CLEW_CLANG", "clang-19")
KINDS = ("native", "clew")  # of builds
NOBODY = 65534
# What clew prints for any run that passes or ends with a status.
EVERYDAY = re.compile(r"clew: (pass|note:|replayed|fail \(exit\)|.* was not built with clew)")


@dataclasses.dataclass
class Test:
    source: pathlib.Path
    name: str
    reference: int | None = None  # the status of the native run; None: it did not end
    left_out: str | None = None
    problems: list = dataclasses.field(default_factory=list)  # (kind of run, what differs, excuse)
    passed: collections.Counter = dataclasses.field(default_factory=collections.Counter)


class Suite:
    name = ""
    archive = ""  # where it is fetched from
    timeout = 20  # seconds for each run, unless the user says otherwise
    processes = None  # how many processes and threads the tests may make, if not as many as the user
    unprivileged = False  # tests are run as nobody if the user is root

    def __init__(self, work):
        self.work = work

    def wants(self, member):
        """Whether this file of the archive is needed."""
        return True

    def unpacked(self):
        """Called once after unpacking."""

    def find(self):
        """All tests."""
        raise NotImplementedError

    def prepare(self, pool):
        """Builds what tests share."""

    def compilation(self, test, kind):
        """The command that builds `self.program(test, kind)`."""
        raise NotImplementedError

    def program(self, test, kind):
        return self.work / kind / test.name

    def command(self, test, kind):
        return [str(self.program(test, kind))]

    def surroundings(self, folder):
        """The environment of a run."""
        return {"TMPDIR": str(folder)}

    def refusal(self, test):
        """Why a test that ended natively with `test.reference` is not judged, or None."""
        return f"fails natively, status {test.reference}" if test.reference != 0 else None

    def excuse(self, test, kind, problem):
        """Why this kind of run of the test may differ in this way, or None; what has an excuse is counted separately."""
        return None


def fetch(suite, archive):
    """Unpacks the needed files of the archive into the suite's folder."""
    done = suite.work / "unpacked"
    if done.exists():
        return
    if archive is None:
        archive = suite.work / suite.archive.rpartition("/")[2]
        if not archive.exists():
            print(f"fetching {suite.archive}", flush=True)
            part = archive.with_suffix(".part")
            with urllib.request.urlopen(suite.archive, timeout=60) as source, part.open("wb") as file:
                shutil.copyfileobj(source, file)
            part.rename(archive)
    with tarfile.open(archive) as source:
        for member in source:
            if member.isfile() and suite.wants(member.name):
                source.extract(member, suite.work, filter="data")
    suite.unpacked()
    done.touch()  # last, so that an interrupted unpacking is started again


def end(child):
    """Ends a child whose time limit is reached: clew ends its program when it is interrupted, others are killed."""
    child.terminate()
    try:
        child.wait(3)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


def run(command, folder, limit, environment=None):
    """The status of `command` (128 + n if signal n ended it; None if its time limit was reached) and what it wrote."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
                                 env={**os.environ, **(environment or {})})
        try:
            status = child.wait(limit)
            status = status if status >= 0 else 128 - status
        except subprocess.TimeoutExpired:
            status = None
        finally:
            end(child)
        out.seek(0)
        return status, out.read().decode(errors="replace")


def build(suite, test, kind):
    program = suite.program(test, kind)
    if program.exists():
        return True
    program.parent.mkdir(parents=True, exist_ok=True)
    status, said = run(suite.compilation(test, kind), None, 120)
    if status != 0:
        lines = [line for line in said.splitlines() if "error" in line or "undefined" in line]
        test.left_out = (lines or ["does not build"])[0][-160:]
    return status == 0


class Runner:
    """Runs tests of a suite, each in its own folder."""

    def __init__(self, suite, options):
        self.suite = suite
        self.options = options
        self.user = []  # the words that make a command run as another user
        if suite.unprivileged and os.geteuid() == 0:
            self.become_nobody()

    def become_nobody(self):
        if not shutil.which("setpriv"):
            sys.exit(f"bench/suites/{self.suite.name}: these tests are not run as root, and setpriv (util-linux) is missing")
        self.user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
        self.suite.work.chmod(0o755)
        for path in (self.fresh("probe"), pathlib.Path(CLEW)):
            if subprocess.run([*self.user, "test", "-x", path]).returncode != 0:
                sys.exit(f"bench/suites/{self.suite.name}: as root, tests are run as user {NOBODY}, who may not enter {path}: use another folder")

    def fresh(self, name):
        folder = self.suite.work / "runs" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if self.user:
            os.chown(folder, NOBODY, NOBODY)
        return folder

    def run(self, kind, folder, words):
        status, said = run([*self.user, *words], folder, self.options.timeout, self.suite.surroundings(folder))
        (folder / f"said.{kind}").write_text(said)
        return status, said

    def judge_native(self, test):
        test.reference, _ = self.run("native", self.fresh(f"{test.name}/native"), self.suite.command(test, "native"))
        if test.reference is None:
            test.left_out = f"natively still running after {self.options.timeout:.0f} s"
        else:
            test.left_out = self.suite.refusal(test)

    def judge(self, test):
        def one(kind, folder, words):
            status, said = self.run(kind, folder, words)
            if status == test.reference:
                test.passed[kind] += 1
                return True
            problem = describe(status, test.reference, said)
            test.problems.append((kind, problem, self.suite.excuse(test, kind, problem)))
            return False

        ran = False
        for seed in range(1, self.options.seeds + 1):
            folder = self.fresh(f"{test.name}/seed{seed}")
            ran = one(f"seed {seed}", folder, [CLEW, "run", "--seed", str(seed), "--", *self.suite.command(test, "clew")])
        for number in range(self.options.replays if ran else 0):
            one(f"replay {number + 1}", folder, [CLEW, "replay", "1"])
        one("not built", self.fresh(f"{test.name}/not_built"), [CLEW, "run", "--seed", "1", "--", *self.suite.command(test, "native")])

    def whole(self, test):
        if not test.left_out and build(self.suite, test, "native"):
            self.judge_native(test)
        if not test.left_out and build(self.suite, test, "clew"):
            self.judge(test)
        return test


def describe(status, expected, said):
    """What differs, with clew's message, or the test's last line if clew reports only the exit status."""
    lines = [line for line in said.splitlines() if line.strip()]
    told = [line for line in lines if line.startswith("clew: ") and not EVERYDAY.match(line)]
    own = [line for line in lines if not line.startswith(("clew: ", "  ", "hint: "))]
    return f"{'still running' if status is None else f'status {status}'}, natively {expected}: {(told or own[-1:] or [''])[0][:150]}"


def chosen(suite, names):
    tests = suite.find()
    unknown = set(names) - {test.name for test in tests}
    if unknown:
        sys.exit(f"bench/suites/{suite.name}: no such test: {' '.join(sorted(unknown))}")
    return [test for test in tests if not names or test.name in names]


def arguments(kind, description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="tests (default: all)")
    parser.add_argument("--archive", type=pathlib.Path, metavar="FILE", help=f"use this copy of {kind.archive}")
    parser.add_argument("--seeds", type=int, default=2, metavar="N", help="runs under clew (default 2)")
    parser.add_argument("--replays", type=int, default=3, metavar="N", help="replays of the last of them (default 3)")
    parser.add_argument("--timeout", type=float, default=kind.timeout, metavar="S", help=f"seconds for each run (default {kind.timeout})")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="tests at a time (default: one for each processor)")
    parser.add_argument("--keep", metavar="FOLDER", help="keep sources, programs and recordings there; what is there is reused")
    parser.add_argument("--left-out", action="store_true", help="list what is left out, and why")
    return parser.parse_args()


def report(test, options):
    for kind, problem, excuse in test.problems:
        print(f"{test.name:34} {kind:9} {problem}", flush=True)
        if excuse:
            print(f"{'':34} {'expected':9} {excuse}", flush=True)
    if test.left_out and options.left_out:
        print(f"{test.name:34} left out  {test.left_out}", flush=True)


def count(tests, options):
    """Prints the table and returns whether a test differs without excuse."""
    judged = [test for test in tests if not test.left_out]
    rows = [("tests", len(tests)), ("left out (do not build alone, or do not pass natively)", len(tests) - len(judged)), ("pass natively", len(judged))]
    kinds = [*(f"seed {seed}" for seed in range(1, options.seeds + 1)), *(f"replay {number + 1}" for number in range(options.replays)), "not built"]
    rows += [(f"the same: {kind}", sum(test.passed[kind] for test in judged)) for kind in kinds]
    differing = [test for test in judged if test.problems]
    wrong = [test for test in differing if not all(excuse for _, _, excuse in test.problems)]
    for text, number in [*rows, ("expected to differ", len(differing) - len(wrong)), ("differ, and should not", len(wrong))]:
        print(f"{text:56} {number:5}")
    return bool(wrong)


def main(kind, description):
    """Runs the tests of a `Suite` that the user names."""
    options = arguments(kind, description)
    if not os.access(CLEW, os.X_OK):
        sys.exit(f"bench/suites/{kind.name}: build first: scripts/setup")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    work = pathlib.Path(options.keep or tempfile.mkdtemp(prefix=f"clew-{kind.name}-")).resolve()
    work.mkdir(parents=True, exist_ok=True)
    if kind.processes:
        resource.setrlimit(resource.RLIMIT_NPROC, (kind.processes, resource.getrlimit(resource.RLIMIT_NPROC)[1]))
    try:
        suite = kind(work)
        runner = Runner(suite, options)
        fetch(suite, options.archive)
        tests = chosen(suite, options.names)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            suite.prepare(pool)
            for test in pool.map(runner.whole, tests):
                report(test, options)
    finally:
        if not options.keep:
            shutil.rmtree(work, ignore_errors=True)
    sys.exit(1 if count(tests, options) else 0)
