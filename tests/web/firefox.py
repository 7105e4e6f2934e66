"""Firefox as browse.py drives a browser: what it needs of Selenium's driver, spoken to Firefox itself by its own protocol
(Marionette), because Debian has no geckodriver.
"""
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import time

element_key = "element-6066-11e4-a52e-4f735466cecf"
selectors = {"id": "#{}", "css selector": "{}", "tag name": "{}"}
preferences = {
    "browser.shell.checkDefaultBrowser": False, "browser.aboutwelcome.enabled": False, "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.auto": False, "browser.sessionstore.resume_from_crash": False, "browser.startup.page": 0, "network.captive-portal-service.enabled": False,
    "layout.css.prefers-color-scheme.content-override": 1,  # light
    "webgl.force-enabled": True, "dom.disable_open_during_load": True,
}

# Of the browser's own console what pages have left there: errors, what a policy has refused
console_of_pages = """
const { interfaces: Ci } = Components, found = [];
for (const one of Services.console.getMessageArray()) {
  if (!(one instanceof Ci.nsIScriptError) || one.flags & (Ci.nsIScriptError.warningFlag | Ci.nsIScriptError.infoFlag)) continue;
  if (/^(https?|file|blob):/.test(one.sourceName) || /security|csp/i.test(one.category)) found.push(one.errorMessage + ' (' + one.sourceName + ')');
}
Services.console.reset();
return found;"""


class Element:
    def __init__(self, driver, name):
        self.driver, self.name = driver, name

    def ask(self, command, **more):
        return self.driver.ask("WebDriver:" + command, id=self.name, **more)

    def send_keys(self, *keys):
        self.ask("ElementSendKeys", text="".join(keys))

    def click(self):
        self.ask("ElementClick")

    @property
    def text(self):
        return self.ask("GetElementText")

    def get_attribute(self, name):
        return self.driver.execute_script("return arguments[0][arguments[1]]", self, name)


class Firefox:
    def __init__(self, folder):
        profile = pathlib.Path(folder) / "profile"
        profile.mkdir()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        wanted = {**preferences, "marionette.port": port, "browser.download.dir": str(folder), "browser.download.folderList": 2}
        (profile / "user.js").write_text("".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in wanted.items()))
        # On a display of its own: without one it gives no WebGL.
        screen = ["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24"] if "DISPLAY" not in os.environ else []
        self.process = subprocess.Popen([*screen, "firefox-esr", "--no-remote", "--marionette", "--remote-allow-system-access", "--profile", str(profile)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.connection = self.connect(port)
        self.number, self.received = 0, b""
        self.receive()  # who it is
        self.ask("WebDriver:NewSession")
        self.ask("WebDriver:SetTimeouts", script=300000, pageLoad=120000)
        self.ask("WebDriver:SetWindowRect", width=1280, height=860)
        self.switch_to = self

    def connect(self, port, seconds=60):
        end = time.monotonic() + seconds
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=600)
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.2)

    # A message is its length, a colon and JSON.
    def receive(self):
        while True:
            length, colon, rest = self.received.partition(b":")
            if colon and len(rest) >= int(length):
                self.received = rest[int(length):]
                return json.loads(rest[:int(length)])
            some = self.connection.recv(1 << 16)
            if not some:
                raise RuntimeError("Firefox has closed the connection")
            self.received += some

    def ask(self, command, **arguments):
        self.number += 1
        message = json.dumps([0, self.number, command, arguments]).encode()
        self.connection.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(f"{command}: {error['error']}: {error['message']}")
        return self.unwrapped(result["value"] if isinstance(result, dict) and "value" in result else result)

    def unwrapped(self, value):
        if isinstance(value, list):
            return [self.unwrapped(one) for one in value]
        if isinstance(value, dict) and element_key in value:
            return Element(self, value[element_key])
        return value

    def get(self, address):
        self.ask("WebDriver:Navigate", url=address)

    def refresh(self):
        self.ask("WebDriver:Refresh")

    def execute_script(self, script, *arguments):
        given = [{element_key: one.name} if isinstance(one, Element) else one for one in arguments]
        return self.ask("WebDriver:ExecuteScript", script=script, args=given, sandbox=None, newSandbox=False)

    def find_elements(self, by, value):
        return self.ask("WebDriver:FindElements", using="css selector", value=selectors[by].format(value))

    def find_element(self, by, value):
        return self.ask("WebDriver:FindElement", using="css selector", value=selectors[by].format(value))

    # switch_to
    def frame(self, element):
        self.ask("WebDriver:SwitchToFrame", element=element.name)

    def default_content(self):
        self.ask("WebDriver:SwitchToFrame")

    def get_log(self, _):
        """What stands on the browser's console, workers and loading included, since the last time."""
        self.ask("Marionette:SetContext", value="chrome")
        try:
            found = self.execute_script(console_of_pages)
        finally:
            self.ask("Marionette:SetContext", value="content")
        return [{"level": "SEVERE", "message": message} for message in found]

    # What of Chromium's own protocol a hand with a mouse needs
    def execute_cdp_cmd(self, command, given):
        if command == "Input.dispatchMouseEvent":
            self.move_mouse(given)
        elif command == "Storage.clearDataForOrigin":
            self.get(given["origin"] + "/")
            self.execute_script("localStorage.clear()")
        elif command != "Emulation.setEmulatedMedia":  # light as preferred
            raise RuntimeError(f"Firefox has no {command}")

    def move_mouse(self, given):
        kind, at = given["type"], {"x": given["x"], "y": given["y"], "origin": "viewport", "duration": 0}
        if kind == "mouseWheel":
            actions = [{"type": "wheel", "id": "wheel", "actions": [{"type": "scroll", **at, "deltaX": given["deltaX"], "deltaY": given["deltaY"]}]}]
        else:
            some = [{"type": "pointerMove", **at}]
            if kind != "mouseMoved":
                some.append({"type": "pointerDown" if kind == "mousePressed" else "pointerUp", "button": 0})
            actions = [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": some}]
        self.ask("WebDriver:PerformActions", actions=actions)

    def quit(self):
        with contextlib.suppress(Exception):
            self.ask("Marionette:Quit", flags=["eForceQuit"])
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
