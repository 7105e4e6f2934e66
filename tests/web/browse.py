#!/usr/bin/env python3
"""browse.py SITE PROGRAM: the browser edition in a real browser, beside the program for the desktop.

SITE is what ./web.sh --build-only -o SITE has made, PROGRAM the native tilewalk. Chromium without a screen opens the page,
walks with keys and pointer, breaks, shares, saves, drops, loses its graphics card, and opens the single file. What is
compared: traces, number for number; pictures, pixel for pixel, with those of the program's own rasteriser. Exit code
77 where Chromium or its driver is missing.
"""
import functools
import http.server
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    print("browse.py: python3-selenium is missing")
    sys.exit(77)

site, program = map(pathlib.Path, sys.argv[1:3])
checks = 0


def expect(holds, what):
    global checks
    checks += 1
    if not holds:
        sys.exit(f"browse.py: {what}")


class Files(http.server.SimpleHTTPRequestHandler):
    """The folder, and a list of what was asked for."""

    asked = []

    def do_GET(self):
        Files.asked.append(self.path.split("?")[0])
        super().do_GET()

    def log_message(self, *_):
        pass


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def start_browser(folder):
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                 "--window-size=1280,860", "--force-device-scale-factor=1", "--hide-scrollbars",
                 "--disable-background-networking", "--disable-component-update"):
        options.add_argument(word)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


class Session:
    """One tab with the program in it."""

    def __init__(self, driver, address):
        self.driver = driver
        driver.get("about:blank")
        driver.get(address)
        self.wait(lambda: self.run("return window.tilewalkReady || 0") > 0, "the page never became ready")
        self.canvas = driver.find_element(By.ID, "canvas")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, holds, why, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if holds():
                return
            time.sleep(0.05)
        status = self.run("return document.getElementById('status').textContent")
        sys.exit(f"browse.py: {why} ({status!r}; console: {self.errors()})")

    def press(self, *keys):
        self.canvas.send_keys(*keys)
        time.sleep(0.15)

    def words(self):
        return self.run("return Module.ccall('tilewalk_words', 'string', [], [])")

    def link(self):
        return self.run("return Module.ccall('tilewalk_link', 'string', [], [])")

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"
                and "favicon" not in entry["message"]]


def differing(first, second):
    """The share of pixels of two PNG files that differ by more than 24 of 255 in a channel."""
    def pixels(data):
        out = subprocess.run(["ffmpeg", "-v", "error", "-i", "-", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], input=data,
                             capture_output=True, check=True).stdout
        return memoryview(out)
    a, b = pixels(first), pixels(second)
    expect(len(a) == len(b), f"the pictures differ in size: {len(a)} and {len(b)} bytes")
    return sum(1 for k in range(0, len(a), 3) if max(abs(a[k + c] - b[k + c]) for c in range(3)) > 24) / (len(a) // 3)


def canvas_picture(session):
    """The canvas by itself, as PNG."""
    import base64
    text = session.run("return document.getElementById('canvas').toDataURL('image/png')")
    return base64.b64decode(text.split(",")[1])


def native(*words):
    return subprocess.run([program, *words], capture_output=True, check=True).stdout


def check_walk(driver, address):
    session = Session(driver, address)
    first = session.words()
    expect(first.count("\n") >= 3, f"the walk has no words: {first!r}")
    session.press(Keys.ESCAPE)
    session.run("Module.ccall('tilewalk_follow', null, ['string'], [arguments[0]])",
                native("link", "--step", "17").decode().strip())
    session.press(Keys.ARROW_LEFT, Keys.ARROW_RIGHT)
    expect("1.639" in session.words(), f"step 17 does not say ℓ = 1.639: {session.words()!r}")
    session.press(Keys.ARROW_RIGHT)
    expect("1.639" not in session.words().split("\n")[2], "the right arrow key changed nothing")
    expect(session.errors() == [], f"errors on the console: {session.errors()}")
    return session


def far_apart(mine, theirs):
    """What differs by more than the order of additions: Eigen adds in pairs on the desktop, one by one here."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return mine.keys() != theirs.keys() or any(far_apart(mine[key], theirs[key]) for key in mine)
    if isinstance(mine, list) and isinstance(theirs, list):
        return len(mine) != len(theirs) or any(map(far_apart, mine, theirs))
    if isinstance(mine, float) and isinstance(theirs, float):
        return abs(mine - theirs) > 1e-13 * max(1, abs(theirs))
    return mine != theirs


def check_traces(session, examples):
    """The same steps and, to the last digits, the same numbers."""
    for lesson, example in examples:
        mine = session.run("return Module.ccall('tilewalk_trace', 'string', ['string', 'string'], arguments)", lesson, example)
        theirs = native("trace", "--lesson", lesson, "--example", example, "--format", "json").decode()
        expect(not far_apart(json.loads(mine), json.loads(theirs)), f"the trace of {lesson}, {example} differs from the native one")


def check_picture(driver, address):
    link = native("link", "--step", "17").decode().strip()
    driver.get("about:blank")
    driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": address.rstrip("/"), "storageTypes": "all"})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "light"}]})
    session = Session(driver, address + "?embed=1#" + urllib.parse.quote(link, safe=":/;=&,"))
    time.sleep(12)  # until what greets a first start is gone
    size = session.run("const c = document.getElementById('canvas'); return c.width + 'x' + c.height")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "native.png"
        native("render", "--link", link, "--size", size, "--theme", "light", "-o", str(path))
        share = differing(canvas_picture(session), path.read_bytes())
    expect(share < 0.02, f"{share:.2%} of the pixels differ from the rasteriser's picture, expected less than 2 %")
    print(f"picture {size}: {share:.3%} of the pixels differ")


def check_link(session):
    link = session.link()
    expect(link.startswith("tilewalk:"), f"no link: {link!r}")
    session.wait(lambda: "tilewalk:" in urllib.parse.unquote(session.driver.current_url), "the address does not follow")
    session.run("location.hash = '#tilewalk:nonsense'")
    time.sleep(0.6)
    expect(session.errors() == [], "a broken link gave an error on the console")


def check_context_loss(session):
    session.run("Module.ccall('tilewalk_follow', null, ['string'], [arguments[0]])",
                native("link", "--step", "17").decode().strip())
    session.press(Keys.ARROW_RIGHT)
    session.run("window.loss = document.getElementById('canvas').getContext('webgl2').getExtension('WEBGL_lose_context');"
                "window.loss.loseContext()")
    time.sleep(0.5)
    session.run("window.loss.restoreContext()")
    time.sleep(0.8)
    before = session.words()
    session.press(Keys.ARROW_RIGHT)
    expect(session.words() != before, "after the context was lost and came back, keys do nothing")
    expect(len(canvas_picture(session)) > 20000, "after the context came back the picture is empty")


def check_random_use(session, count, seed):
    keys = [Keys.ARROW_LEFT, Keys.ARROW_RIGHT, Keys.ARROW_UP, Keys.ARROW_DOWN, Keys.SPACE, Keys.ENTER, Keys.ESCAPE, Keys.HOME,
            Keys.END, Keys.PAGE_UP, Keys.PAGE_DOWN, Keys.TAB, *"abcdefghijklmnopqrstuvwxyz0123456789?:+-"]
    choose = random.Random(seed)
    for _ in range(count):
        if choose.random() < 0.3:
            x, y = choose.randrange(1200), choose.randrange(700)
            session.run("for (const [type, buttons] of [['pointermove', 0], ['pointerdown', 1], ['pointerup', 0]])"
                        " document.getElementById('canvas').dispatchEvent(new PointerEvent(type, {clientX: arguments[0],"
                        " clientY: arguments[1], buttons: buttons, pointerId: 1, bubbles: true, cancelable: true}))", x, y)
        else:
            session.canvas.send_keys(*[choose.choice(keys) for _ in range(4)])
    time.sleep(0.5)
    left = [e for e in session.errors() if "setPointerCapture" not in e]
    expect(left == [], f"random use (seed {seed}) left errors on the console: {left}")


def check_single_file(driver):
    session = Session(driver, (site / "tilewalk.html").resolve().as_uri())
    expect(session.words().count("\n") >= 3, "the single file shows no walk")
    expect(session.errors() == [], f"the single file left errors on the console: {session.errors()}")


def main():
    for tool in ("/usr/bin/chromedriver",):
        if not pathlib.Path(tool).exists():
            print(f"browse.py: {tool} is missing")
            return 77
    address = serve()
    with tempfile.TemporaryDirectory() as folder:
        driver = start_browser(folder)
        try:
            begun = time.monotonic()
            session = check_walk(driver, address)
            print(f"walk: {time.monotonic() - begun:.1f} s, ready after {session.run('return window.tilewalkReady'):.0f} ms")
            examples = [("flash-forward", "worked-4x4"), ("attention", "six-words"), ("softmax-1pass", "worked-4x4"),
                        ("flash-backward", "gradients-4x4"), ("flash-forward", "causal-8")]
            check_traces(session, examples)
            check_link(session)
            check_random_use(session, 60, 7)
            check_context_loss(Session(driver, address))
            check_picture(driver, address)
            expect(set(Files.asked) <= {"/", "/index.html", "/tilewalk.js", "/tilewalk.wasm", "/favicon.ico"},
                   f"more was asked for than its own files: {sorted(set(Files.asked))}")
            check_single_file(driver)
        finally:
            driver.quit()
    print(f"browse.py: {checks} checks, all hold")
    return 0


sys.exit(main())
