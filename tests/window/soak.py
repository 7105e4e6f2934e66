# soak.py PROGRAM MINUTES SEED FOLDER : anything at all in the real window, for so long; tests/soak.sh says what must hold.
# The seed decides the events; how far the program was when each came, the machine does.
import collections
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time

from x11 import Display

SAMPLE = 30  # seconds between two looks at memory, files and threads
MOST_GROWTH = 16  # MiB, from the first half of what remains after the first fifth to its second half
MOST_QUITS = 2
MOST_MORE = 2  # files, threads, likewise
HOME_SIZE = (1280, 800)

WALK = ["Right", "Left", "Up", "Down", "Home", "End", "Prior", "Next", "space", "n", "m", "j", "F9"]
EDIT = ["Return", "Escape", "Tab", "shift+Tab", "BackSpace", "Delete", "Up", "Down", "space", "ctrl+z", "ctrl+y"]
SHOW = ["p", "F5", "shift+p", "ctrl+shift+p", "alt+p", "shift+g", "shift+r", "period", "t", "a", "o", "ctrl+plus", "ctrl+minus",
        "ctrl+0", "alt+plus", "alt+minus", "shift+u"]
HELD = ["", "", "", "shift+", "ctrl+", "ctrl+shift+", "alt+"]
# Not /, with which a name of a file would begin that lies elsewhere; not F10, whose menu has Quit.
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.:?-"
WORDS = ["attention", "textbook", "three passes", "two passes", "one pass", "flash", "flashattention-1", "backward", "flash backward",
         "training", "merge", "split", "shared prefix", "ring", "ring backward", "worked", "gradients", "causal", "window", "six words",
         "ragged", "ties", "large", "tour", "chapter 3", "stop", "kernel", "inside", "f5", "race", "break", "fp16", "bf16", "fp8",
         "lazy", "cubic", "theme", "settings", "spotlight", "comma", "glossary", "softmax", "random", "heads", "sink", "alibi", "undo"]
TYPED = ["0", "1", "-2.5", "1e9", "17", "64", "0.125", "nan", "p17", "2 3", "3.7,1", "(1+2)*3", "m > 2", "walk.png", "a.md", "s.pdf", "x"]


class Window:
    def __init__(self, program, folder):
        self.log = open(os.path.join(folder, "log"), "w+", encoding="utf-8", errors="replace")
        with open(self.log.name, "a", encoding="utf-8") as out:
            self.process = subprocess.Popen([program, "--timing"], cwd=os.path.join(folder, "work"), stdout=out, stderr=out)
        self.display = Display()
        self.main = self.display.find("Tilewalk", alive=self.alive)
        if not self.main:
            raise SystemExit("no window came")
        self.recent = collections.deque(maxlen=4000)
        self.sent = 0
        self.speaker = None
        self.at = self.main

    def alive(self):
        return self.process.poll() is None

    def last_words(self, most=12):
        """What it said at last, the times of its frames left out: the sentence of an abort, of a sanitizer."""
        with open(self.log.name, encoding="utf-8", errors="replace") as log:
            said = [line.rstrip() for line in log if line.strip() and not re.match(r"\s*(long|frame|first|start)", line)]
        return ["  it said: " + line for line in said[-most:]]

    def did(self, what, act):
        self.recent.append((time.monotonic(), what))
        self.sent += 1
        act()

    def key(self, press):
        self.did(press, lambda: self.display.key(press))

    def type(self, text):
        for letter in text:
            self.key("plus" if letter == "+" else letter)

    def taken(self):
        """Waits until the window has taken what was sent; false if it has ended. A minute without an answer is a failure."""
        if self.display.answers(self.main, 60, self.alive):
            return True
        if self.alive():
            raise TimeoutError("the window takes no events any more: " + self.before(time.monotonic(), 12))
        return False

    def before(self, when, count):
        return " ".join(what for at, what in [one for one in self.recent if one[0] <= when][-count:])

    def status(self):
        of = f"/proc/{self.process.pid}"
        fields = dict(re.findall(r"^(\w+):\s+(\d+)", open(of + "/status", encoding="ascii").read(), re.M))
        return {"rss": int(fields["VmRSS"]) / 1024, "own": int(fields["RssAnon"]) / 1024, "files": len(os.listdir(of + "/fd")),
                "threads": int(fields["Threads"])}


def point(rng, window):
    for title, id_, x, y, width, height in window.display.windows():
        if id_ == window.at:
            # The menu at the upper right has Quit.
            px, py = rng.randrange(width), rng.randrange(height)
            if title == "Tilewalk" and px > width - 70 and py < 60:
                py += 60
            return x + px, y + py
    return 10, 100


def move(rng, window):
    x, y = point(rng, window)
    window.did(f"move({x},{y})", lambda: window.display.move(x, y))


def click(rng, window):
    move(rng, window)
    which = rng.choices([1, 3, 2], [90, 9, 1])[0]
    for _ in range(rng.choices([1, 2], [9, 1])[0]):
        window.did(f"click{which}", lambda: window.display.click(which))


def drag(rng, window):
    move(rng, window)
    window.did("press", lambda: window.display.button(1, True))
    for _ in range(rng.randrange(1, 6)):
        move(rng, window)
        if not window.taken():
            return
    window.did("release", lambda: window.display.button(1, False))


def wheel(rng, window):
    which = rng.choice([4, 5])
    for _ in range(rng.randrange(1, 5)):
        window.did(f"wheel{which}", lambda: window.display.click(which))


def find(rng, window):
    window.key("ctrl+k")
    if window.taken():
        window.type(rng.choice(WORDS))
        for _ in range(rng.choice([0, 0, 0, 1, 2, 5])):
            window.key("Down")
        window.key(rng.choice(["Return", "Return", "Return", "shift+Return", "Escape"]))


def typed(rng, window):
    window.type(rng.choice(TYPED))
    window.key(rng.choice(["Return", "Tab", "Escape"]))


def undo(rng, window):
    for _ in range(rng.randrange(1, 12)):
        window.key(rng.choice(["ctrl+z", "ctrl+z", "ctrl+y"]))


def tour(rng, window):
    window.key("u")
    for _ in range(rng.randrange(1, 15)):
        window.key(rng.choice(["Next", "Next", "Prior", "shift+Next", "Return", "Right"]))
        if not window.taken():
            return


def resize(rng, window):
    width, height = rng.choice([(1024, 640), (1280, 720), (1600, 900), (1900, 1060), (rng.randrange(700, 1900), rng.randrange(500, 1060))])
    window.did(f"size({width},{height})", lambda: window.display.place(window.at, 0, 0, width, height))


def other_window(rng, window):
    window.speaker = next((one[1] for one in window.display.windows() if one[0] == "Tilewalk speaker"), None)
    window.at = window.speaker if window.speaker and rng.random() < 0.4 else window.main
    name = "speaker" if window.at == window.speaker else "main"
    window.did(f"focus({name})", lambda: window.display.focus(window.at))


def close_speaker(rng, window):
    if window.speaker:
        window.did("close(speaker)", lambda: window.display.ask_to_close(window.speaker))
        window.at = window.main
        window.did("focus(main)", lambda: window.display.focus(window.main))


def come_out(rng, window):
    for _ in range(3):
        window.key("Escape")


def pressing(keys, with_held=False):
    return lambda rng, window: window.key((rng.choice(HELD) if with_held else "") + rng.choice(keys))


ACTS = [(pressing(WALK, True), 24), (pressing(EDIT), 14), (pressing(list(LETTERS), True), 14), (pressing(SHOW), 5),
        (pressing(list("0123456789")), 3), (click, 12), (move, 9), (drag, 2), (wheel, 4), (find, 4), (typed, 3), (undo, 1.5),
        (tour, 0.6), (resize, 0.6), (other_window, 2), (close_speaker, 0.3), (come_out, 2)]


def rest(window):
    """The same place in the same size, no benchmark, so that what is looked at does not hang on what is shown or measured."""
    if window.speaker:
        close_speaker(None, window)
    window.at = window.main
    window.display.button(1, False)
    window.display.place(window.main, 0, 0, *HOME_SIZE)
    window.display.focus(window.main)
    # On the page At scale Escape ends the run.
    for press in ["Escape"] * 8 + ["7", "Escape", "0"]:
        window.key(press)
        if not window.taken():
            return
    time.sleep(2)  # it ends, and the memory goes back to the system


def rises(samples, what):
    """Of the lower quartiles of the two halves after the first fifth: a kernel that is being recorded or a benchmark takes
    memory and threads as long as it runs, and a leak lifts the floor."""
    later = [one[what] for one in samples[len(samples) // 5:]]
    half = len(later) // 2
    floor = lambda some: statistics.quantiles(some, n=4)[0]
    return floor(later[half:]) - floor(later[:half])


def judge(samples):
    wrong = []
    for what, most, unit in [("own", MOST_GROWTH, "MiB of memory"), ("files", MOST_MORE, "open files"), ("threads", MOST_MORE, "threads")]:
        more = rises(samples, what)
        print(f"{unit}: {samples[0][what]:.0f} at first, {samples[-1][what]:.0f} at last, "
              f"floor of the second half {more:+.1f} (at most {most:+d})")
        if more > most:
            wrong.append(f"{unit} grew by {more:.1f}")
    return wrong


def long_frames(window, seen):
    """Those that the program has told of since, with the events before each."""
    window.log.seek(seen)
    lines, told = window.log.read(), []
    end = window.log.tell()
    if seen == 0:
        lines = lines.partition("first frame after")[2]  # a start is measured otherwise
    for line in re.findall(r"^long .*", lines, re.M):
        when = float(re.search(r"at ([\d.]+) s", line)[1])
        told.append(line + "; after: " + window.before(when, 6))
    return end, told


def ended_well(window):
    """Quit was chosen after all."""
    window.log.seek(0)
    return window.process.returncode == 0 and " frames; longest in ms" in window.log.read()


def soak(window, rng, until, samples):
    """Until the time is over; false if the program has ended."""
    next_look, seen, found = time.monotonic() + SAMPLE, 0, []
    acts, weights = zip(*ACTS)
    while time.monotonic() < until:
        rng.choices(acts, weights)[0](rng, window)
        # A frame for one event or for some of them
        if rng.random() < 0.4 and not window.taken():
            break
        if time.monotonic() < next_look:
            continue
        next_look += SAMPLE
        rest(window)
        if not window.alive():
            break
        samples.append(window.status())
        seen, told = long_frames(window, seen)
        found += told
        print("{:5.1f} min to go, {:7d} events, RSS {rss:6.1f} MiB, own {own:6.1f}, files {files}, threads {threads}, long frames {}".format(
            (until - time.monotonic()) / 60, window.sent, len(found), **samples[-1]), flush=True)
        for line in told:
            print("   ", line, flush=True)
    return found + long_frames(window, seen)[1]


def main():
    program, minutes, seed, folder = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    os.makedirs(os.path.join(folder, "work"), exist_ok=True)
    rng, until, sent, quits, found, wrong = random.Random(seed), time.monotonic() + minutes * 60, 0, 0, [], []
    judged = False
    while time.monotonic() < until and not wrong:
        samples, window = [], Window(program, folder)
        window.display.focus(window.main)
        try:
            found += soak(window, rng, until, samples)
        except TimeoutError as error:
            wrong.append(str(error))
        sent += window.sent
        if window.alive():
            window.process.send_signal(signal.SIGTERM)
            try:
                window.process.wait(20)
            except subprocess.TimeoutExpired:
                window.process.kill()
                wrong.append("it did not end when it was asked to")
        elif ended_well(window):
            quits += 1
        else:
            wrong.append(f"it ended by itself, with {window.process.returncode}, after: {window.before(time.monotonic(), 12)}")
            wrong += window.last_words()
        if len(samples) >= 10:
            wrong += judge(samples)
            judged = True
    if not judged and not wrong:
        wrong.append("no run was long enough to judge its memory (five minutes are)")
    if quits > MOST_QUITS:
        wrong.append(f"it ended {quits} times in order, which only words typed at random into the palette should")
    window.log.seek(0)
    frames = re.findall(r"^\d+ frames; .*", window.log.read(), re.M)
    print("\n".join(frames))
    if not frames and window.process.returncode in (0, -signal.SIGTERM, 128 + signal.SIGTERM):
        wrong.append("the program did not say how long its frames took")
    wrong += [line for line in found if line.startswith("long frame") or line.startswith("long speaker")][:20]
    print(f"{sent} events, seed {seed}, {quits} times Quit, {len(found)} long frames")
    for line in wrong:
        print("soak:", line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


main()
