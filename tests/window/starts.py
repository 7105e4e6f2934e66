# starts.py PROGRAM COUNT SEED FOLDER : the window is opened, something is changed, and it is closed in order or killed, again and
# again with the same settings; tests/starts.sh says what must hold.
import json
import os
import random
import signal
import subprocess
import sys
import time

from x11 import Display

LISTED = 20  # starts between two lines on stdout

# What a key changes, and to what; None: to something else, which only the program knows.
THEMES = {"dark": "light", "light": "contrast", "contrast": "dark"}
WALK = ("lesson", "page", "step", "row", "example", "problem_json")
CHANGES = {
    "t": ("theme", lambda old: THEMES[old]),
    "a": ("motion", lambda old: not old),
    "ctrl+plus": ("zoom", None),
    "ctrl+minus": ("zoom", None),
    "ctrl+Tab": ("lesson", None),
    "7": ("page", None),
    "1": ("page", None),
    "Right": ("step", None),
}


class Damage(Exception):
    pass


def read(path):
    """The settings as they stand there; None if there are none."""
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        text = file.read()
    try:
        found = json.loads(text)
    except ValueError as error:
        raise Damage(f"the settings are no JSON ({error}): {text[:200]!r}") from None
    if not isinstance(found, dict):
        raise Damage(f"the settings are no object: {text[:200]!r}")
    return found


def left_over(folder):
    return sorted(name for name in os.listdir(folder) if name != "settings.json") if os.path.isdir(folder) else []


class Start:
    def __init__(self, program, folder, rng):
        self.folder = os.path.join(folder, "tilewalk")
        self.path = os.path.join(self.folder, "settings.json")
        self.rng = rng
        self.before = read(self.path)
        # Different ones: the same key twice within a moment is a key that is held.
        self.keys = rng.sample(list(CHANGES), rng.choice([1, 1, 2]))
        self.in_order = rng.random() < 0.5
        self.how = rng.choice(["TERM", "close"]) if self.in_order else rng.choice(["from the start", "from the change", "while it writes"])
        if self.how == "while it writes":
            # What is written down by itself, a moment later
            self.keys = [key for key in self.keys if key != "ctrl+Tab"] + ["ctrl+Tab"]
        self.sent = False
        self.log = open(os.path.join(folder, "log"), "w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen([program], stdout=self.log, stderr=self.log)
        self.began = time.monotonic()

    def alive(self):
        return self.process.poll() is None

    def said(self):
        self.log.seek(0)
        return self.log.read().strip()

    def change(self, display):
        window = display.find("Tilewalk", 30, self.alive)
        if not window:
            raise Damage(f"no window came: {self.said()}")
        display.focus(window)
        for key in self.keys:
            display.key(key)
        if not display.answers(window, 30, self.alive):
            raise Damage(f"the window does not answer: {self.said()}")
        self.sent = True
        return window

    def kill_at(self, moment):
        time.sleep(max(0.0, moment - time.monotonic()))
        self.process.send_signal(signal.SIGKILL)

    def kill(self, display):
        within = self.rng.random()  # seconds
        if self.how == "from the start":
            return self.kill_at(self.began + within)
        self.change(display)
        if self.how == "from the change":
            return self.kill_at(time.monotonic() + within)
        # As soon as there is a new file, or what was there is another one
        was, until = self.mark(), time.monotonic() + 1
        while time.monotonic() < until and self.mark() == was:
            pass
        self.process.send_signal(signal.SIGKILL)

    def mark(self):
        try:
            return os.listdir(self.folder), os.stat(self.path).st_ino
        except FileNotFoundError:
            return None

    def end(self, display):
        if not self.in_order:
            self.kill(display)
            self.process.wait()
            return
        window = self.change(display)
        if self.how == "TERM":
            self.process.send_signal(signal.SIGTERM)
        else:
            display.ask_to_close(window)
        try:
            code = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Damage("it did not end when it was asked to") from None
        if code != (-signal.SIGTERM if self.how == "TERM" else 0):
            raise Damage(f"it ended with {code}: {self.said()}")

    def check(self):
        after = read(self.path)
        if self.in_order:
            self.check_changed(after)
        elif self.before is not None and after is None:
            raise Damage("the settings are gone")
        elif after != self.before:
            self.check_one_or_the_other(after)
        # A kill may leave the file that was being written; the next start in order has taken it away.
        rest = left_over(self.folder)
        if len(rest) > (0 if self.in_order else 1):
            raise Damage(f"files are left over: {' '.join(rest)}")
        return after

    def check_changed(self, after):
        """What was read is what stood there, and what the keys made of it was written."""
        if after is None or after.get("open") is not False:
            raise Damage("closing in order did not keep the settings")
        if self.before is None:
            return
        expected, unknown = dict(self.before, open=False), {"open"}
        for key in self.keys:
            what, new = CHANGES[key]
            if new:
                expected[what] = new(expected[what])
            else:
                unknown.update(WALK if what in WALK else [what])
        self.compare(after, lambda name: name in unknown or after[name] == expected[name])

    def check_one_or_the_other(self, after):
        """Written a moment after the change: each setting is the old one or the one that a key made of it."""
        if self.before is None:
            return
        allowed, free = {name: [value] for name, value in self.before.items()}, {"open", *WALK}
        for key in self.keys if self.sent else []:
            what, new = CHANGES[key]
            if new:
                allowed[what].append(new(allowed[what][-1]))
            else:
                free.add(what)
        self.compare(after, lambda name: name in free or after[name] in allowed[name])

    def compare(self, after, fine):
        if after.keys() != self.before.keys():
            raise Damage(f"other settings than before: {sorted(after.keys() ^ self.before.keys())}")
        for name in after:
            if type(after[name]) is not type(self.before[name]) and not {type(after[name]), type(self.before[name])} <= {int, float}:
                raise Damage(f"{name} was {self.before[name]!r} and is {after[name]!r}")
            if not fine(name):
                raise Damage(f"{name} was {self.before[name]!r} and is {after[name]!r} after {' '.join(self.keys)}")


def main():
    program, count, seed, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    display, began, kills, written, left = Display(), time.monotonic(), 0, 0, 0
    for number in range(1, count + 1):
        start = Start(program, folder, random.Random(f"{seed}.{number}"))
        try:
            start.end(display)
            after = start.check()
        except Damage as damage:
            if start.alive():
                start.process.kill()
            print(f"starts: start {number} of seed {seed} ({start.how}, keys {' '.join(start.keys)}): {damage}", file=sys.stderr)
            sys.exit(1)
        kills += not start.in_order
        written += not start.in_order and after != start.before
        left += not start.in_order and bool(left_over(start.folder))
        if number % LISTED == 0:
            print(f"{number} starts, {kills} of them killed, {time.monotonic() - began:.0f} s", flush=True)
    if count >= 200 and not left:
        print(f"starts: of {kills} kills none came while the settings were being written, so that was not tried", file=sys.stderr)
        sys.exit(1)
    print(f"{count} starts, {kills} of them killed ({written} after they had written, {left} within), seed {seed}: the settings are whole")


main()
