#!/usr/bin/env python3
"""browse.py [--firefox] SITE PROGRAM [PART...]: the browser edition in a real browser, beside the program for the desktop.

SITE is what ./web.sh --build-only -o SITE has made, PROGRAM the native tilewalk. Chromium without a screen opens the page,
walks with keys, pointer and fingers, breaks, shares, saves, drops, measures, loses its graphics card, and opens the single
file. What is compared: traces, byte for byte, with the native program's; pictures, pixel for pixel, with those of its own
rasteriser. Without a PART all of them; `soak` (ten minutes) only by name. With --firefox in Firefox-ESR, the parts that need nothing of Chromium's
own. Exit code 77 where the browser or its driver is missing.
"""
import base64
import functools
import http.server
import json
import os
import pathlib
import random
import re
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
    from selenium.webdriver.remote.remote_connection import RemoteConnection
except ImportError:
    print("browse.py: python3-selenium is missing")
    sys.exit(77)

sys.dont_write_bytecode = True
from firefox import Firefox  # noqa: E402

here = pathlib.Path(__file__).resolve().parent
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


class Host(http.server.BaseHTTPRequestHandler):
    """A lecturer's page with ours in a frame."""

    frame = ""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f"""<!doctype html><title>Lecture</title><script>window.heard = [];
addEventListener('message', (event) => heard.push(event.data.tilewalk));</script>
<iframe id="walk" width="1200" height="760" src="{Host.frame}"></iframe>""".encode())

    def log_message(self, *_):
        pass


def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def start_browser(folder):
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                 "--window-size=1280,860", "--force-device-scale-factor=1", "--hide-scrollbars",
                 "--disable-background-networking", "--disable-component-update"):
        options.add_argument(word)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    RemoteConnection.set_timeout(400)  # of an answer of the driver; without it a page that stands still is waited for without end
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    driver.set_script_timeout(300)
    driver.set_page_load_timeout(120)
    return driver


class Session:
    """One tab with the program in it."""

    def __init__(self, driver, address):
        self.driver = driver
        driver.get("about:blank")
        driver.get_log("browser")
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
        sys.exit(f"browse.py: {why} ({self.status()!r}; console: {self.errors()})")

    def status(self):
        return self.run("return document.getElementById('status').textContent")

    def press(self, *keys):
        self.canvas.send_keys(*keys)
        time.sleep(0.15)

    def mouse(self, kind, x, y, **more):
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    def fingers(self, kind, *points):
        touches = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    def call(self, name, *arguments):
        kinds = ["number" if isinstance(one, (int, float)) else "string" for one in arguments]
        return self.run("return Module.ccall('tilewalk_' + arguments[0], 'string', arguments[1], arguments[2])",
                        name, kinds, list(arguments))

    def words(self):
        return self.call("words")

    def link(self):
        return self.call("link")

    def follow(self, link):
        self.run("Module.ccall('tilewalk_follow', null, ['string'], [arguments[0]])", link)
        time.sleep(0.2)

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"
                and "favicon" not in entry["message"]]

    def expect_no_errors(self, after):
        found = self.errors()
        expect(found == [], f"{after} left errors on the console: {found[:3]}")


class Test:
    """What the parts share: the driver, the address of the site, the native program, the folder of downloads."""

    def __init__(self, driver, site, program, folder):
        self.driver, self.site, self.program, self.folder = driver, site, program, pathlib.Path(folder)
        self.address = serve(functools.partial(Files, directory=site)) + "/"
        self.step_17 = self.native("link", "--step", "17").decode().strip()

    def native(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, check=True).stdout

    def native_or_none(self, *words):
        done = subprocess.run([self.program, *words], capture_output=True)
        return done.stdout.decode() if done.returncode == 0 else None

    def page(self, name):
        return self.native("link", "--page", name).decode().strip()

    def session(self, query="", link=""):
        return Session(self.driver, self.address + query + ("#" + urllib.parse.quote(link, safe=":/;=&,") if link else ""))

    def with_script(self, script):
        """A session in a page where this ran before everything else."""
        added = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        try:
            return self.session(link=self.step_17)
        finally:
            self.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": added["identifier"]})


def differing(first, second):
    """The share of pixels of two PNG files that differ by more than 24 of 255 in a channel."""
    def pixels(data):
        out = subprocess.run(["ffmpeg", "-v", "error", "-i", "-", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], input=data,
                             capture_output=True, check=True).stdout
        return memoryview(out)
    a, b = pixels(first), pixels(second)
    expect(len(a) == len(b), f"the pictures differ in size: {len(a)} and {len(b)} bytes")
    return sum(1 for k in range(0, len(a), 3) if max(abs(a[k + c] - b[k + c]) for c in range(3)) > 24) / (len(a) // 3)


def keep_pictures(name, mine, native):
    """What differed, to be looked at: into the folder TILEWALK_PICTURES, if one is named."""
    folder = os.environ.get("TILEWALK_PICTURES", "")
    if folder:
        (pathlib.Path(folder) / f"{name}-mine.png").write_bytes(mine)
        (pathlib.Path(folder) / f"{name}-native.png").write_bytes(native)


def canvas_picture(session):
    """The canvas by itself, as PNG."""
    text = session.run("return document.getElementById('canvas').toDataURL('image/png')")
    return base64.b64decode(text.split(",")[1])


# ---- The parts

def check_walk(test):
    begun = time.monotonic()
    session = test.session()
    first = session.words()
    expect(first.count("\n") >= 3, f"the walk has no words: {first!r}")
    session.press(Keys.ESCAPE)
    session.follow(test.step_17)
    session.press(Keys.ARROW_LEFT, Keys.ARROW_RIGHT)
    expect("1.639" in session.words(), f"step 17 does not say ℓ = 1.639: {session.words()!r}")
    session.press(Keys.ARROW_RIGHT)
    expect("1.639" not in session.words().split("\n")[2], "the right arrow key changed nothing")
    session.expect_no_errors("the walk")
    ready = session.run("return window.tilewalkReady")
    frame = session.run("const begun = performance.now(); for (let k = 0; k < 100; ++k)"
                        " Module.ccall('tilewalk_frame', 'number', ['number'], [begun / 1000 + k / 60]);"
                        " return (performance.now() - begun) / 100")
    memory = session.run("return Module.HEAP8.length") / 2 ** 20
    print(f"walk: {time.monotonic() - begun:.1f} s, ready after {ready:.0f} ms, {frame:.1f} ms a frame, {memory:.0f} MiB")
    expect(memory <= 64, f"the worked example takes {memory:.0f} MiB, expected 64 at the most")


def check_playing(test):
    """Space plays a step a second, and what greets goes by itself: time passes while nothing moves."""
    begin_light(test)
    session = test.session(link=test.native("link", "--step", "2").decode().strip())
    begun, first = time.monotonic(), session.link()
    session.press(Keys.SPACE)
    seen = {first}
    while time.monotonic() - begun < 10:
        seen.add(session.link())
        time.sleep(0.1)
    session.press(Keys.SPACE)
    expect(len(seen) >= 6, f"Space has played {len(seen) - 1} steps in 10 s")
    print(f"playing: {len(seen) - 1} steps in 10 s")


def check_pages(test):
    """Every lesson and every page opens, and says something."""
    session = test.session()
    lessons = [line.split()[0] for line in test.native("lessons").decode().splitlines() if line and line[0] != " "]
    for lesson in lessons:
        link = test.native_or_none("link", "--lesson", lesson) or test.native("link", "--lesson", lesson, "--example",
                                                                             "six-words").decode()
        session.follow(link.strip())
        expect(session.words().count("\n") >= 3, f"the lesson {lesson} says nothing")
        session.press(Keys.ARROW_RIGHT)
    for page in ("memory", "scale", "compare", "start", "inside"):
        session.follow(test.page(page))
        session.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    session.expect_no_errors("opening every lesson and page")
    print(f"pages: {len(lessons)} lessons, 5 pages")


def far_apart(mine, theirs):
    """The largest difference of two numbers at the same place, relative to 1; None if more than numbers differ."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        pairs = None if mine.keys() != theirs.keys() else [(mine[key], theirs[key]) for key in mine]
    elif isinstance(mine, list) and isinstance(theirs, list):
        pairs = None if len(mine) != len(theirs) else list(zip(mine, theirs))
    elif isinstance(mine, float) and isinstance(theirs, float):
        return abs(mine - theirs) / max(1, abs(theirs))
    else:
        return 0 if mine == theirs else None
    apart = [far_apart(*pair) for pair in pairs] if pairs is not None else [None]
    return None if None in apart else max(apart, default=0)


def some_links(test, count, seed):
    """Of every example in every lesson that takes it, and of random problems."""
    examples = [line.split()[0] for line in test.native("examples").decode().splitlines()[1:] if line[:1].strip()]
    lessons = [line.split()[0] for line in test.native("lessons").decode().splitlines() if line[:1].strip()]
    for lesson in lessons:
        for example in examples:
            yield test.native_or_none("link", "--lesson", lesson, "--example", example)
    choose = random.Random(seed)
    made = 0
    while made < count:
        words = ["--lesson", choose.choice(lessons), "--random", f"{choose.randint(1, 12)}x{choose.randint(1, 8)}", "--seed",
                 str(choose.randint(1, 10 ** 6)), "--br", str(choose.randint(1, 4)), "--bc", str(choose.randint(1, 4))]
        if choose.random() < 0.3:
            words.append("--causal")
        if choose.random() < 0.2:
            words += ["--softcap", "5"]
        link = test.native_or_none("link", *words)
        made += link is not None
        yield link


def check_traces(test, count=200):
    """The same bytes as the native program's."""
    session = test.session()
    equal, others = 0, []
    for link in filter(None, some_links(test, count, 11)):
        link = link.strip()
        mine = session.call("trace", link)
        theirs = test.native("trace", "--link", link, "--format", "json").decode()
        if mine == theirs:
            equal += 1
            continue
        apart = far_apart(json.loads(mine), json.loads(theirs)) if mine.startswith("{") else None
        others.append((link, apart))
    print(f"traces: {equal} are equal to the byte, {len(others)} are not: {others[:5]}")
    expect(equal > count and all(apart is not None and apart < 1e-12 for _, apart in others),
           f"traces differ from the native ones: {others[:5]}")


def check_picture(test):
    begin_light(test)
    session = test.session("?embed=1", test.step_17)
    time.sleep(12)  # until what greets a first start is gone
    size = session.run("const c = document.getElementById('canvas'); return c.width + 'x' + c.height")
    path = test.folder / "native.png"
    test.native("render", "--link", test.step_17, "--size", size, "--theme", "light", "-o", str(path))
    mine, native = canvas_picture(session), path.read_bytes()
    path.unlink()
    share = differing(mine, native)
    keep_pictures("picture", mine, native)
    expect(share < 0.02, f"{share:.2%} of the pixels differ from the rasteriser's picture, expected less than 2 %")
    print(f"picture {size}: {share:.3%} of the pixels differ")


def expect_inside(test, session, link, what, seconds=120):
    """Follows a link into a kernel, whose run comes from the worker, and waits for the picture of the program for the desktop."""
    session.follow(link)
    for x in (2, 1):  # a frame, in which the run begins; a mouse that is there already does not move
        session.mouse("mouseMoved", x, 1)
    size = session.run("const c = document.getElementById('canvas'); return c.width + 'x' + c.height")
    path = test.folder / "native.png"
    test.native("render", "--link", link, "--size", size, "--theme", "light", "-o", str(path))
    native, share, begun = path.read_bytes(), 1.0, time.monotonic()
    path.unlink()
    while share >= 0.02 and time.monotonic() - begun < seconds:
        time.sleep(0.5)
        mine = canvas_picture(session)
        share = differing(mine, native)
    keep_pictures(what.replace(" ", "-"), mine, native)
    expect(share < 0.02, f"{what}: {share:.2%} of the pixels differ from the program's for the desktop")
    print(f"inside: {what} after {time.monotonic() - begun:.1f} s, {share:.3%} of the pixels differ")


def check_inside(test):
    """Kernels are recorded in a worker, whole and broken, and the page shows of them what the desktop shows."""
    begin_light(test)
    session = test.session("?embed=1", test.step_17)
    time.sleep(12)  # until what greets a first start is gone
    for kernel, warp in (("f2-tiled-fp32", 2), ("f4-tensor-core", 1), ("f5-flash2", 3), ("f6-split", 0), ("b3-deterministic", 1)):
        words = ("--page", "inside", "--kernel", kernel, "--warp", str(warp), "--instruction", "40")
        expect_inside(test, session, test.native("link", *words).decode().strip(), kernel)
    broken = test.native("link", "--page", "inside", "--kernel", "f5-flash2", "--without", "f5_flash2.cu:70").decode().strip()
    expect_inside(test, session, broken, "f5 without a barrier")
    session.follow(test.page("compare"))
    time.sleep(5)
    session.expect_no_errors("kernels in a worker")


def check_plans(test):
    """The three lesson plans of docs/teaching.md from beginning to end: each place, what is pressed there, the lab's tasks."""
    begin_light(test)
    session = test.session()
    text = (here.parent.parent / "docs/teaching.md").read_text()
    places = re.findall(r"\| \d+ \| ([^|`]*)`(tilewalk:[^`]*)`", text)
    tasks = re.findall(r"^\d\. `(tilewalk:[^`]*)`", text, re.MULTILINE)
    expect(len(places) >= 20 and len(tasks) == 8, f"the plans have {len(places)} places, the lab {len(tasks)} tasks")
    for number, (named, link) in enumerate(places):
        see_place(session, link, f"plan-{number:02}")
        step = re.search(r"step \d+, ([^,]*?),? (?:without α )?$", named)
        expect(not step or step[1] in session.words().split("\n")[0], f"{named} shows {session.words()!r}")
    do_lab(session, tasks)
    session.expect_no_errors("the plans")
    print(f"plans: {len(places)} places, {len(tasks)} tasks")


def see_place(session, link, name):
    session.follow(link)
    session.mouse("mouseMoved", 1, 1)
    time.sleep(1)
    folder = os.environ.get("TILEWALK_PICTURES", "")
    if folder:
        (pathlib.Path(folder) / f"{name}.png").write_bytes(canvas_picture(session))


def walk_to(session, step):
    for _ in range(60):
        if f"step={step}&" in session.link():
            return
        session.press(Keys.ARROW_RIGHT)
    sys.exit(f"browse.py: → does not lead to step {step}: {session.link()}")


def do_lab(session, tasks):
    for number, link in enumerate(tasks, 1):
        see_place(session, link, f"task-{number}")
        if number == 1:
            walk_to(session, 17)
            expect("1.639" in session.words(), f"ℓ of row 0 is said to be {session.words()!r}")
            walk_to(session, 20)
        if number == 4:
            walk_to(session, 10)
            expect("NaN" in session.words(), f"no NaN at step 10: {session.words()!r}")
        if number == 8:
            session.wait(lambda: session.run("return window.tilewalkKernelsAnswered || 0") > 0, "no kernel has run", 60)
            session.press("x")


def begin_light(test):
    test.driver.get("about:blank")
    test.driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": test.address.rstrip("/"), "storageTypes": "all"})
    test.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "light"}]})


def check_links(test):
    session = test.session(link=test.step_17)
    hash_of = "return decodeURI(location.hash)"
    session.press(Keys.ARROW_RIGHT)
    expect(session.link().startswith("tilewalk:"), f"no link: {session.link()!r}")
    session.wait(lambda: "tilewalk:" in session.run(hash_of), "the address does not follow")
    before = session.run("return history.length")
    for _ in range(6):
        session.press(Keys.ARROW_RIGHT)
    time.sleep(0.6)
    expect(session.run("return history.length") == before, "a step makes an entry in the history")
    first = session.words()
    session.run("location.hash = arguments[0]", "#" + test.native("link", "--example", "causal-8").decode().strip())
    session.wait(lambda: "causal-8" in session.link(), "a link in the address leads nowhere")
    session.run("history.back()")
    session.wait(lambda: "causal-8" not in session.link(), "back does not go back")
    session.wait(lambda: session.words() == first, "back does not lead to the same step")
    session.run("history.forward()")
    session.wait(lambda: "causal-8" in session.link(), "forward does not go forward")
    for nonsense in ("tilewalk:nonsense", "tilewalk:" + "x" * 3000, "tilewalk:example=%E0%A4%A", "%", "tilewalk:random=9999x9999.1",
                     "tilewalk:step=-1&example=../../etc/passwd", "tilewalk:<script>alert(1)</script>"):
        session.run("location.hash = arguments[0]", "#" + nonsense)
        time.sleep(0.3)
    expect(session.words().count("\n") >= 3, "hostile links left no walk")
    session.expect_no_errors("hostile links")


def check_messages(test):
    """A page of another origin drives the walk in its frame; one that was not named hears and does nothing."""
    origin = serve(Host)
    for named in (origin, "https://example.org"):
        Host.frame = f"{test.address}?embed=1&controls=min&origin={named}#{test.step_17}"
        test.driver.get("about:blank")
        test.driver.get(origin + "/")
        test.driver.switch_to.frame(test.driver.find_element(By.ID, "walk"))
        end = time.monotonic() + 30
        while not test.driver.execute_script("return window.tilewalkReady || 0") and time.monotonic() < end:
            time.sleep(0.1)
        expect(not test.driver.execute_script("return document.hasFocus() && document.activeElement.id === 'canvas'"),
               "in a frame the canvas takes the keyboard by itself")
        words = "return Module.ccall('tilewalk_words', 'string', [], [])"
        before = test.driver.execute_script(words)
        test.driver.switch_to.default_content()
        for order in ({"key": "ArrowRight"}, {"key": 7}, {"link": "x" * 5000}, {"link": None}, None, "text", {"key": "ArrowRight"}):
            test.driver.execute_script("document.getElementById('walk').contentWindow.postMessage({tilewalk: arguments[0]}, '*')", order)
            time.sleep(0.3)
        time.sleep(0.8)
        heard = [one["event"] for one in test.driver.execute_script("return window.heard") if one]
        test.driver.switch_to.frame(test.driver.find_element(By.ID, "walk"))
        moved = test.driver.execute_script(words) != before
        test.driver.switch_to.default_content()
        expect(moved == (named == origin), f"keys from {origin} where {named} is named: moved is {moved}")
        expect(("ready" in heard and "step" in heard) == (named == origin), f"told {heard} where {named} is named")


def check_touch(test):
    session = test.session()
    session.press(Keys.ESCAPE)
    session.follow(test.step_17)
    test.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 5})
    before = canvas_picture(session)
    for number in range(1, 8):  # two fingers apart
        session.fingers("touchStart" if number == 1 else "touchMove", (600 - 20 * number, 300), (640 + 20 * number, 300))
    session.fingers("touchEnd")
    time.sleep(0.5)
    after = canvas_picture(session)
    expect(before != after, "two fingers that part change nothing")
    words = session.words()
    for x, y in [(x, y) for y in (600, 640, 680, 720, 760) for x in (200, 500, 800)]:  # a tap, somewhere on the walk's line
        session.fingers("touchStart", (x, y))
        time.sleep(0.05)
        session.fingers("touchEnd")
        time.sleep(0.2)
        if session.words() != words:
            break
    expect(session.words() != words, "no tap goes anywhere")
    choose = random.Random(5)
    for _ in range(60):  # drags, by one to three fingers
        at = [(choose.randrange(1200), choose.randrange(760)) for _ in range(choose.randint(1, 3))]
        session.fingers("touchStart", *at)
        for _ in range(3):
            at = [(max(0, x + choose.randint(-80, 80)), max(0, y + choose.randint(-80, 80))) for x, y in at]
            session.fingers("touchMove", *at)
        session.fingers("touchCancel" if choose.random() < 0.1 else "touchEnd")
    test.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    session.expect_no_errors("fingers")


def drop(session, name, text):
    session.run("const data = new DataTransfer(); data.items.add(new File([arguments[1]], arguments[0]));"
                "document.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}))", name, text)
    time.sleep(0.8)


def check_files(test):
    """Dropped, chosen, saved; and what is no file of ours."""
    session = test.session()
    session.press(Keys.ESCAPE)
    before = session.link()
    drop(session, "q.json", (here.parent.parent / "assets/examples/causal-8.json").read_text())
    expect(session.link() != before, "a dropped problem changes nothing")
    before = session.link()
    for name, text in (("bad.json", "{"), ("empty.json", ""), ("../../evil.json", "[]"), ("x.csv", "1,2\n3"), ("y.npy", "\x93NUMPY"),
                       ("deep.json", "[" * 100000)):
        drop(session, name, text)
    expect(session.words().count("\n") >= 3, "hostile files left no walk")
    chosen = test.folder / "problem.json"
    chosen.write_text((here.parent.parent / "assets/examples/ragged-7x5.json").read_text())
    test.driver.find_element(By.ID, "chooser").send_keys(str(chosen))
    time.sleep(0.8)
    expect(session.link() != before, "a chosen file changes nothing")
    chosen.unlink()
    session.press(Keys.CONTROL + "s" + Keys.NULL)
    session.press(Keys.ENTER)
    test.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(test.folder)})
    session.run("Module.FS.writeFile('/home/web_user/walk.csv', '1,2')")
    session.press(Keys.ESCAPE, Keys.ARROW_RIGHT)
    session.wait(lambda: any(test.folder.glob("walk*.csv")), "what is saved does not arrive as a download")
    session.expect_no_errors("files")
    print(f"files: {sorted(one.name for one in test.folder.iterdir())} were downloaded")


def begin_edit(session):
    """F2 over the first cell of an input that the pointer finds."""
    for y in range(130, 480, 24):
        for x in range(40, 420, 24):
            session.mouse("mouseMoved", x, y)
            session.press(Keys.F2)
            if '"edit"' in session.call("left"):
                session.pointed = x, y
                return
    sys.exit("browse.py: F2 begins to edit no cell")


def check_double_click(test):
    """Two clicks soon after each other begin to edit a cell, however many frames are drawn in between."""
    session = test.session(link=test.step_17)
    begin_edit(session)
    session.press(Keys.ESCAPE)
    expect(session.call("left") == "", "Escape does not end the edit")
    x, y = session.pointed
    session.run("for (const [k, buttons] of [0, 1, 0, 1, 0].entries()) Module.ccall('tilewalk_pointer', null, Array(4).fill('number'),"
                " [arguments[0] + 1, arguments[1], buttons, performance.now() / 1000 + k / 10])", x, y)
    session.wait(lambda: '"edit"' in session.call("left"), "a double click edits nothing")
    session.press(Keys.ESCAPE)
    session.expect_no_errors("a double click")


def check_reload(test):
    """A page that is loaded once more goes on with tour, question and the cell that is typed into."""
    def reload():
        before = session.words(), session.call("left")
        test.driver.refresh()
        session.wait(lambda: session.run("return window.tilewalkReady || 0") > 0, "the page does not come back")
        session.canvas = test.driver.find_element(By.ID, "canvas")
        after = session.words(), session.call("left")
        expect(after == before, f"loaded once more {before} has become {after}")

    session = test.session(link=test.step_17)
    session.press("u", Keys.PAGE_DOWN, Keys.PAGE_DOWN, Keys.PAGE_DOWN)
    expect('"tour": 4' in session.call("left"), f"no tour: {session.call('left')}")
    reload()
    session.press(Keys.PAGE_UP, "u")
    session.follow(test.step_17)
    session.press("q")
    for _ in range(12):
        if '"open"' not in session.call("left"):
            session.press(Keys.ARROW_RIGHT)
    session.press("2")
    expect('"open"' in session.call("left"), "no question is asked")
    reload()
    session.press("q")
    session.follow(test.step_17)
    begin_edit(session)
    session.press("7.25")
    expect('"text": "7.25"' in session.call("left"), f"what is typed is not there: {session.call('left')}")
    reload()
    session.press(Keys.ENTER)
    session.wait(lambda: "7.25" in session.link(), "Enter does not put in what was typed before")
    test.driver.get("about:blank")
    session = test.session(link=test.step_17)
    expect(session.call("left") == "", f"opened anew, the page still has {session.call('left')}")
    session.expect_no_errors("loading once more")


def check_paste(test):
    """What is pasted stands in the field at once, however soon the keys are let go."""
    session = test.session(link=test.step_17)
    begin_edit(session)
    test.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    session.run("return navigator.clipboard.writeText('3.75')")
    session.press(Keys.CONTROL + "v" + Keys.NULL)
    session.wait(lambda: '"text": "3.75"' in session.call("left"), f"pasted: {session.call('left')}", 3)
    session.press(Keys.ENTER)
    session.wait(lambda: "3.75" in session.link(), "what was pasted is not put in")
    session.expect_no_errors("pasting")


def check_storage(test):
    forbidden = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }});"
    full = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"
    hostile = "try { localStorage.setItem('tilewalk.settings', '{\"theme\": [[[' + '['.repeat(10000)); } catch (no) {}"
    for name, script in (("forbidden", forbidden), ("full", full), ("hostile", hostile)):
        session = test.with_script(script)
        before = session.words()
        session.press(Keys.ESCAPE, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        session.wait(lambda: session.words() != before, f"with {name} storage keys do nothing")
        session.expect_no_errors(f"{name} storage")
    session.run("localStorage.clear()")


def check_preferences(test):
    """Light colours and less motion for who asks for them, at the first start."""
    begin_light(test)
    features = [{"name": "prefers-color-scheme", "value": "light"}, {"name": "prefers-reduced-motion", "value": "reduce"}]
    test.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    session = test.session(link=test.step_17)
    session.press(Keys.ESCAPE)
    kept = json.loads(session.run("Module.ccall('tilewalk_keep', null, ['number'], [1]); return localStorage.getItem('tilewalk.settings')"))
    expect((kept["theme"], kept["motion"]) == ("light", False), f"kept are {kept['theme']!r} and motion {kept['motion']}")
    test.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    session.run("localStorage.clear()")


def check_lacking(test):
    """Without WebGL 2 a sentence, and the walk in words; without SIMD a sentence."""
    session = test.with_script("const get = HTMLCanvasElement.prototype.getContext;"
                               "HTMLCanvasElement.prototype.getContext = function (kind, ...more)"
                               " { return kind.startsWith('webgl') ? null : get.call(this, kind, ...more); };")
    expect("WebGL 2" in session.status(), f"nothing says that there is no WebGL 2: {session.status()!r}")
    mirror = test.driver.find_element(By.ID, "mirror")
    session.wait(lambda: mirror.text.count("\n") >= 3, "without WebGL 2 the walk is not told in words")
    test.driver.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
    before = mirror.text
    test.driver.find_element(By.CSS_SELECTOR, "[data-key=ArrowRight]").click()
    session.wait(lambda: mirror.text != before, "without WebGL 2 the button does not step")
    before = mirror.text
    test.driver.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_RIGHT)
    session.wait(lambda: mirror.text != before, "without WebGL 2 the key does not step")
    added = test.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "WebAssembly.validate = () => false;"})
    test.driver.get("about:blank")
    test.driver.get(test.address)
    time.sleep(1)
    test.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": added["identifier"]})
    said = test.driver.execute_script("return document.getElementById('status').textContent")
    expect("SIMD" in said, f"a browser without SIMD is told {said!r}")


def check_context_loss(test):
    session = test.session()
    session.follow(test.step_17)
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


def use_at_random(session, choose):
    keys = [Keys.ARROW_LEFT, Keys.ARROW_RIGHT, Keys.ARROW_UP, Keys.ARROW_DOWN, Keys.SPACE, Keys.ENTER, Keys.ESCAPE, Keys.HOME,
            Keys.END, Keys.PAGE_UP, Keys.PAGE_DOWN, Keys.TAB, *"abcdefghijklmnopqrstuvwxyz0123456789?:+-"]
    if choose.random() < 0.4:
        x, y = choose.randrange(1200), choose.randrange(740)
        session.mouse("mouseMoved", x, y)
        session.mouse("mousePressed", x, y, button="left", clickCount=1)
        if choose.random() < 0.3:
            x, y = choose.randrange(1200), choose.randrange(740)
            session.mouse("mouseMoved", x, y, buttons=1)
        session.mouse("mouseReleased", x, y, button="left", clickCount=1)
    elif choose.random() < 0.1:
        session.mouse("mouseWheel", choose.randrange(1200), choose.randrange(740), deltaX=0, deltaY=choose.choice([-120, 120]))
    else:
        session.canvas.send_keys(*[choose.choice(keys) for _ in range(4)])


def check_random_use(test, count=300, seed=7):
    session = test.session()
    choose = random.Random(seed)
    for number in range(count):
        use_at_random(session, choose)
        found = session.errors() if number % 25 == 24 else []
        expect(found == [], f"random use (seed {seed}) left errors on the console after {number + 1}: {found[:3]}")
    before = session.words()
    session.follow(test.step_17)
    session.press(Keys.ESCAPE, Keys.ESCAPE, Keys.ARROW_RIGHT)
    expect(session.words() != before or "1.639" in before, "after random use the page no longer answers")
    print(f"random use: {count} sequences, {session.run('return Module.HEAP8.length') / 2 ** 20:.0f} MiB")


def check_scale(test):
    """Kernels run in a worker: frames go on, the results arrive, and Escape or the button ends it."""
    session = test.session()
    session.follow(test.page("scale"))
    time.sleep(0.5)
    before = canvas_picture(session)
    session.press(Keys.ENTER)
    begun = time.monotonic()
    answers, longest = 0, 0.0
    while time.monotonic() - begun < 12:
        at = time.monotonic()
        session.run("return Module.ccall('tilewalk_words', 'string', [], [])")
        longest = max(longest, time.monotonic() - at)
        answers += 1
        time.sleep(0.1)
    # In the page's own thread there would be none before the run has ended, after minutes.
    expect(answers >= 4, f"while kernels run the page answers {answers} times in 12 s")
    expect(canvas_picture(session) != before, "a run at scale shows nothing")
    session.expect_no_errors("a run at scale")
    print(f"scale: {answers} answers in 12 s while kernels ran, the slowest after {longest * 1000:.0f} ms")
    session.press(Keys.ESCAPE)


def check_reading(test):
    """What a screen reader meets: names, language, order, a region that is read out."""
    session = test.session(link=test.step_17)
    wrong = session.run("""
        const wrong = [];
        if (!document.documentElement.lang) wrong.push('the page names no language');
        if (!document.title) wrong.push('the page has no title');
        for (const one of document.querySelectorAll('button, input, canvas, nav')) {
          const name = one.getAttribute('aria-label') || one.textContent.trim() || (one.labels && one.labels.length && one.labels[0].textContent);
          if (!name) wrong.push(one.outerHTML + ' has no name');
          if (one.tabIndex > 0) wrong.push(one.outerHTML + ' leaves the order of the page');
          if (one.tagName === 'BUTTON' && one.type !== 'button') wrong.push(one.outerHTML + ' would send a form');
        }
        const mirror = document.getElementById('mirror');
        if (mirror.getAttribute('aria-live') !== 'polite') wrong.push('the words are not read out');
        if (getComputedStyle(mirror).display === 'none' || getComputedStyle(mirror).visibility === 'hidden') wrong.push('the words are hidden from all');
        const ids = [...document.querySelectorAll('[id]')].map((one) => one.id);
        if (new Set(ids).size !== ids.length) wrong.push('an id is there twice');
        for (const one of document.querySelectorAll('[aria-describedby]'))
          if (!document.getElementById(one.getAttribute('aria-describedby'))) wrong.push('a description is missing');
        const light = (text) => text.match(/[\\d.]+/g).slice(0, 3).map((c) => c / 255).map((c) => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
          .reduce((sum, c, k) => sum + c * [.2126, .7152, .0722][k], 0);
        for (const one of document.querySelectorAll('#bar button, #bar label')) {
          const style = getComputedStyle(one), [a, b] = [light(style.color), light(style.backgroundColor)].sort((x, y) => y - x);
          if ((a + .05) / (b + .05) < 4.5) wrong.push(one.textContent + ' has a contrast of ' + (a + .05) / (b + .05));
        }
        return wrong;""")
    expect(wrong == [], f"a screen reader would miss: {wrong}")
    session.press(Keys.ESCAPE)
    mirror = test.driver.find_element(By.ID, "mirror")
    before = mirror.get_attribute("textContent")
    test.driver.find_element(By.CSS_SELECTOR, "[data-key=ArrowRight]").click()
    session.wait(lambda: mirror.get_attribute("textContent") != before, "the button steps, and nothing is read out")
    expect(test.driver.find_elements(By.CSS_SELECTOR, "#mirror p") != [], "the words have no paragraphs")
    session.press(Keys.ESCAPE, Keys.TAB)
    expect(session.run("return document.activeElement.id") != "canvas", "after Escape, Tab does not leave the canvas")


def check_axe(test):
    """The rules of axe-core, where ./test.sh web could fetch it: TILEWALK_AXE is its axe.min.js."""
    file = os.environ.get("TILEWALK_AXE", "")
    if not file:
        print("axe: [skipped] there is no axe-core")
        return
    for query in ("", "?embed=1"):
        session = test.session(query)
        session.press(Keys.ESCAPE)
        session.run(pathlib.Path(file).read_text())
        found = session.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; axe.run().then((said) => done(said.violations.map((one) =>"
            " one.id + ': ' + one.help + ' (' + one.nodes.map((node) => node.html.slice(0, 80)).join('; ') + ')')), (why) => done([String(why)]))")
        expect(found == [], f"axe-core finds with {query or 'no query'}: {found}")


def check_single_file(test):
    session = Session(test.driver, (test.site / "tilewalk.html").resolve().as_uri())
    expect(session.words().count("\n") >= 3, "the single file shows no walk")
    session.press(Keys.ESCAPE)
    session.follow(test.page("scale"))
    session.press(Keys.ENTER)
    time.sleep(3)
    session.press(Keys.ESCAPE)
    session.follow(test.page("inside"))
    answered = "return window.tilewalkKernelsAnswered || 0"
    session.wait(lambda: session.run(answered) > 0, "no kernel has run in the single file", 60)
    session.expect_no_errors("the single file")


def check_requests(test):
    test.session()
    own = {"/", "/index.html", "/tilewalk.js", "/tilewalk.wasm", "/favicon.ico"}
    expect(set(Files.asked) <= own, f"more was asked for than its own files: {sorted(set(Files.asked) - own)}")


def check_soak(test, minutes=10):
    session = test.session()
    choose = random.Random(3)
    sizes = []
    for _ in range(minutes):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            use_at_random(session, choose)
        session.follow(test.step_17)
        sizes.append(session.run("return Module.HEAP8.length") // 2 ** 20)
    print(f"soak: {sizes} MiB after each minute")
    expect(sizes[-1] <= sizes[len(sizes) // 2] + 16, f"memory grows: {sizes} MiB")
    session.expect_no_errors("the soak")


parts = {"walk": check_walk, "playing": check_playing, "pages": check_pages, "plans": check_plans, "traces": check_traces, "links": check_links, "messages": check_messages,
         "touch": check_touch, "files": check_files, "storage": check_storage, "double": check_double_click, "reload": check_reload, "paste": check_paste, "preferences": check_preferences, "lacking": check_lacking, "reading": check_reading,
         "axe": check_axe, "random": check_random_use, "context": check_context_loss, "scale": check_scale, "picture": check_picture, "inside": check_inside,
         "single": check_single_file, "requests": check_requests}
by_name = {**parts, "soak": check_soak}


# Without fingers, downloads, scripts that run before the page's, and axe-core's promises
in_firefox = ["walk", "playing", "pages", "traces", "links", "reload", "messages", "reading", "random", "context", "scale", "picture", "inside", "single", "requests"]


def main():
    words = sys.argv[1:]
    firefox = words[0] == "--firefox"
    if firefox:
        words = words[1:]
    needed = pathlib.Path("/usr/bin/firefox-esr" if firefox else "/usr/bin/chromedriver")
    if not needed.exists():
        print(f"browse.py: {needed} is missing")
        return 77
    site, program = map(pathlib.Path, words[:2])
    chosen = words[2:] or (in_firefox if firefox else list(parts))
    with tempfile.TemporaryDirectory() as folder:
        driver = Firefox(folder) if firefox else start_browser(folder)
        try:
            test = Test(driver, site, program, folder)
            for part in chosen:
                by_name[part](test)
                print(f"{part}: holds", flush=True)
        finally:
            driver.quit()
    print(f"browse.py: {checks} checks, all hold")
    return 0


sys.exit(main())
