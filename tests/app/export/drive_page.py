#!/usr/bin/env python3
"""Opens the page of every lesson in a browser without a window, presses its keys, and holds what it shows
against the walk as JSON. Any request besides the page itself, any message of the browser and any error fails.

drive_page.py TILEWALK [LESSON...]; exit code 77 where there is no Chromium. Without LESSON a third of them, which
TILEWALK_SEED draws, and all of them where TILEWALK_LAYOUT=all."""
import fcntl
import json
import math
import os
import random
import select
import shutil
import subprocess
import sys
import tempfile
import time

KEYS = {"ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35, "PageDown": 34, "PageUp": 33}
GIVEN = {"Q": "q", "K": "k", "V": "v", "dO": "do", "X": "x", "W_Q": "w_q", "W_K": "w_k", "W_V": "w_v"}

# What a reader sees of the steps that are shown.
SHOWN = """JSON.stringify([...document.querySelectorAll(".step")].filter(s => s.getClientRects().length > 0).map(s => ({
  id: s.id,
  title: s.querySelector("h2").firstChild.textContent.trim(),
  why: (s.querySelector(".why") || {}).textContent,
  numbers: (s.querySelector(".numbers") || {textContent: ""}).textContent,
  code: s.querySelectorAll(".code [aria-current]").length,
  picture: s.querySelector("svg").getBoundingClientRect().width,
  broken: [...s.querySelectorAll("use")].filter(u => !document.querySelector(u.getAttribute("href"))).length,
  traffic: s.querySelector(".traffic").textContent,
  matrices: [...s.querySelectorAll("figure[data-slot]")].map(f => ({
    written: f.classList.contains("written"), slot: f.dataset.slot, row: +f.dataset.row, col: +f.dataset.col,
    made: +f.dataset.made,
    values: [...f.querySelectorAll("tbody tr")].map(r => [...r.querySelectorAll("td")].map(c => c.dataset.value)),
    shown: [...f.querySelectorAll("tbody td")].map(c => c.textContent)}))})))"""


class Failed(Exception):
    pass


def expect(condition, *words):
    if not condition:
        raise Failed(" ".join(str(word) for word in words))


class Browser:
    """Chromium at the other end of two pipes; messages end with NUL."""

    def __init__(self, program, folder):
        to_browser, from_browser = os.pipe(), os.pipe()
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in (to_browser[0], from_browser[1])]

        def connect():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir=" + folder,
             "--window-size=1280,900", "about:blank"],
            preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        for fd in ends + [to_browser[0], from_browser[1]]:
            os.close(fd)
        self.out, self.inp = to_browser[1], from_browser[0]
        self.buffer, self.count, self.events = b"", 0, []

    def read(self, seconds):
        end = time.time() + seconds
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.inp], [], [], max(0, end - time.time()))
            data = os.read(self.inp, 1 << 20) if ready else b""
            expect(data, "the browser does not answer")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read(20)
            if answer.get("id") == self.count:
                expect("error" not in answer, method, answer.get("error"))
                return answer["result"]
            self.events.append(answer)

    def close(self):
        self.process.kill()
        self.process.wait()


class Page:
    def __init__(self, browser, url, scripts=True):
        self.browser, self.url = browser, url
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        if not scripts:
            self.call("Emulation.setScriptExecutionDisabled", value=True)
        self.call("Page.navigate", url=url)
        self.wait(lambda: self.evaluate("document.readyState") == "complete", "the page does not load")

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        expect("exceptionDetails" not in result, expression[:60], result.get("exceptionDetails"))
        return result["result"].get("value")

    def wait(self, condition, words):
        end = time.time() + 10
        while not condition():
            expect(time.time() < end, words)
            time.sleep(0.02)

    def press(self, key, text=""):
        code = KEYS.get(key, ord(key[0].upper()))
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text):
        for letter in text:
            self.press(letter, letter)

    def shown(self):
        return json.loads(self.evaluate(SHOWN))

    def check_silence(self):
        """Nothing was fetched but the page, and nobody complained."""
        for event in self.browser.events:
            method, params = event["method"], event["params"]
            if method == "Network.requestWillBeSent":
                url = params["request"]["url"].split("#")[0]
                expect(url == self.url.split("#")[0], "the page asks for", url)
            expect(method not in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"),
                   method, json.dumps(params)[:400])
        self.browser.events.clear()

    def close(self):
        self.check_silence()
        self.browser.call("Target.closeTarget", targetId=self.target)


def same(texts, numbers):
    a = [[float(text) for text in row] for row in texts]
    b = [[float(number) for number in row] for row in numbers]
    return len(a) == len(b) and all(
        len(r) == len(s) and all(x == y or (math.isnan(x) and math.isnan(y)) for x, y in zip(r, s))
        for r, s in zip(a, b))


def made_values(trace, matrix):
    """The values that a step read: those that an earlier step wrote, or a part of what was given."""
    rows, cols = len(matrix["values"]), len(matrix["values"][0])
    if matrix["made"] > 0:
        for write in reversed(trace["steps"][matrix["made"] - 1]["writes"]):
            if (write["slot"], write["row"], write["col"]) == (matrix["slot"], matrix["row"], matrix["col"]):
                return write["values"]
        raise Failed("step", matrix["made"], "writes no", matrix["slot"])
    given = trace["problem"].get(GIVEN.get(matrix["slot"], ""))
    if given is None:
        return None
    return [row[matrix["col"]:matrix["col"] + cols] for row in given[matrix["row"]:matrix["row"] + rows]]


def check_matrices(trace, step, shown):
    def place(m):
        return m["slot"], m["row"], m["col"]

    writes = [m for m in shown["matrices"] if m["written"]]
    expect([place(m) for m in writes] == [place(w) for w in step["writes"]], "other writes are shown")
    for matrix, write in zip(writes, step["writes"]):
        expect(same(matrix["values"], write["values"]), matrix["slot"], "is shown wrong")
    reads = [m for m in shown["matrices"] if not m["written"]]
    expected = [place(read) for read in step["reads"]]
    expect(all(place(m) in expected for m in reads), "a read is shown that was none")
    # What only moves is shown where it arrives: a load, and what goes from rank to rank.
    if not step["op"].startswith("load") and not step["op"].startswith("exchange"):
        expect(len(reads) == len(expected), "a read is not shown")
    for matrix in reads:
        values = made_values(trace, matrix)
        expect(values is None or same(matrix["values"], values), matrix["slot"], "is shown wrong as it was read")
    for matrix in shown["matrices"]:
        expect(all(matrix["shown"]), "a cell is empty")


def check_step(trace, k, shown):
    step = trace["steps"][k]
    expect(len(shown) == 1, len(shown), "steps are shown at once")
    shown = shown[0]
    expect(shown["id"] == "step-%d" % (k + 1), "step", k + 1, "expected, shown is", shown["id"])
    expect(shown["title"] == step["title"], "its title is", shown["title"])
    expect(shown["why"] == step["why"], "its reason is", shown["why"])
    expect(shown["numbers"] == step["numbers"], "its numbers are", shown["numbers"])
    expect(shown["code"] == 1, shown["code"], "current lines of code")
    expect(shown["picture"] > 300, "its picture is", shown["picture"], "px wide")
    expect(shown["broken"] == 0, "its picture lacks parts")
    check_matrices(trace, step, shown)


def at(page, k):
    shown = page.shown()
    return len(shown) == 1 and shown[0]["id"] == "step-%d" % (k + 1)


def drive(page, trace):
    count = len(trace["steps"])
    for k in range(count):
        check_step(trace, k, page.shown())
        page.press("ArrowRight")
    expect(at(page, count - 1), "the right arrow goes beyond the last step")
    page.press("Home")
    expect(at(page, 0), "Home")
    page.press("End")
    expect(at(page, count - 1), "End")
    page.press("ArrowLeft")
    expect(at(page, count - 2), "the left arrow")
    page.type("3g")
    expect(at(page, 2), "3 G")
    page.press("PageDown")
    after = int(page.shown()[0]["id"][5:]) - 1
    here, there = trace["steps"][2], trace["steps"][after]
    expect(after > 2 and any(here[key] != there[key] for key in ("i", "j", "phase")) or after == count - 1,
           "PgDn stays in its tile")
    page.evaluate('document.getElementById("slider").focus()')
    page.press("ArrowRight")
    expect(at(page, min(after + 1, count - 1)), "the arrow on the slider")
    page.wait(lambda: page.evaluate("location.hash") == "#step-%d" % (min(after + 1, count - 1) + 1),
              "the address does not follow")
    page.call("Page.navigate", url=page.url + "#step-4")
    page.wait(lambda: at(page, 3), "a link to a step")
    page.evaluate('document.querySelector("#theme").click()')
    check_step(trace, 3, page.shown())
    page.call("Emulation.setEmulatedMedia", media="print")
    expect(len(page.shown()) == count, "on paper not every step is there")
    expect(page.evaluate('document.querySelector(".bar").getClientRects().length') == 0, "the bar is on paper")


def check_without_script(browser, url, trace):
    page = Page(browser, url, scripts=False)
    shown = page.shown()
    expect(len(shown) == len(trace["steps"]), "without scripts", len(shown), "steps are shown")
    for step, one in zip(trace["steps"], shown):
        check_matrices(trace, step, one)
    expect(page.evaluate('document.querySelector(".bar").getClientRects().length') == 0,
           "buttons without a script")
    page.close()


def check_lesson(browser, tilewalk, lesson, folder):
    path = os.path.join(folder, lesson + ".html")
    subprocess.run([tilewalk, "export", "--lesson", lesson, "-o", path], check=True)
    walk = subprocess.run([tilewalk, "trace", "--lesson", lesson, "--format", "json"], check=True,
                          stdout=subprocess.PIPE).stdout
    trace = json.loads(walk)
    url = "file://" + path
    page = Page(browser, url)
    drive(page, trace)
    page.close()
    check_without_script(browser, url, trace)
    print("%s: %d steps, %d kB" % (lesson, len(trace["steps"]), os.path.getsize(path) // 1000), flush=True)


def drawn(lessons):
    if os.environ.get("TILEWALK_LAYOUT") == "all":
        return lessons
    draw = random.Random(os.environ.get("TILEWALK_SEED", "1"))
    return [draw.choice(lessons[at:at + 3]) for at in range(0, len(lessons), 3)]


def main():
    tilewalk = sys.argv[1]
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        print("there is no Chromium")
        return 77
    lessons = sys.argv[2:] or drawn([lesson["id"] for lesson in json.loads(
        subprocess.run([tilewalk, "lessons", "--format", "json"], check=True, stdout=subprocess.PIPE).stdout)["lessons"]])
    failures = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(program, os.path.join(folder, "profile"))
        try:
            for lesson in lessons:
                try:
                    check_lesson(browser, tilewalk, lesson, folder)
                except Failed as failure:
                    failures += 1
                    browser.events.clear()
                    print("%s: %s" % (lesson, failure), flush=True)
        finally:
            browser.close()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
