# Keys, pointer and windows of an X display, of libX11 and libXtst, which xdotool brings along: one process for all events.
import ctypes
import random
import select
import time

x11, xtst = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
Id = ctypes.c_ulong
x11.XOpenDisplay.restype = ctypes.c_void_p
for name in ("XInternAtom", "XDefaultRootWindow", "XStringToKeysym", "XKeycodeToKeysym"):
    getattr(x11, name).restype = Id
xtst.XTestFakeKeyEvent.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_ulong]

# A window that is gone by the time it is spoken to is no error here.
Handler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
ignore = Handler(lambda display, error: 0)
x11.XSetErrorHandler(ignore)

CLIENT_MESSAGE, SUBSTRUCTURE_NOTIFY, VIEWABLE = 33, 1 << 19, 2
SIGNS = {" ": "space", ".": "period", ",": "comma", ":": "colon", "?": "question", "-": "minus", "(": "parenleft",
         ")": "parenright", "[": "bracketleft", "]": "bracketright", "*": "asterisk", "=": "equal", "<": "less", ">": "greater"}


class Message(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", Id), ("send_event", ctypes.c_int), ("display", ctypes.c_void_p),
                ("window", Id), ("message_type", Id), ("format", ctypes.c_int), ("data", ctypes.c_long * 5),
                ("room", ctypes.c_long * 24)]


class Attributes(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int), ("width", ctypes.c_int), ("height", ctypes.c_int),
                ("border", ctypes.c_int), ("depth", ctypes.c_int), ("visual", ctypes.c_void_p), ("root", Id),
                ("class_", ctypes.c_int), ("bit_gravity", ctypes.c_int), ("win_gravity", ctypes.c_int),
                ("backing_store", ctypes.c_int), ("backing_planes", Id), ("backing_pixel", Id), ("save_under", ctypes.c_int),
                ("colormap", Id), ("map_installed", ctypes.c_int), ("map_state", ctypes.c_int), ("room", ctypes.c_long * 16)]


class Display:
    def __init__(self):
        opened = x11.XOpenDisplay(None)
        if not opened:
            raise SystemExit("no X display can be opened")
        self.x = ctypes.c_void_p(opened)
        self.root = Id(x11.XDefaultRootWindow(self.x))
        x11.XSelectInput(self.x, self.root, ctypes.c_long(SUBSTRUCTURE_NOTIFY))
        self.codes, self.serial = {}, random.randrange(1 << 20)

    def atom(self, name):
        return x11.XInternAtom(self.x, name.encode(), False)

    def sync(self):
        x11.XSync(self.x, False)

    def windows(self):
        """The visible ones with a title: title, window, x, y, width, height."""
        root, parent, children, count = Id(), Id(), ctypes.POINTER(Id)(), ctypes.c_uint()
        x11.XQueryTree(self.x, self.root, ctypes.byref(root), ctypes.byref(parent), ctypes.byref(children), ctypes.byref(count))
        found = []
        for n in range(count.value):
            window, title, a = children[n], ctypes.c_char_p(), Attributes()
            if not x11.XGetWindowAttributes(self.x, Id(window), ctypes.byref(a)) or a.map_state != VIEWABLE:
                continue
            if x11.XFetchName(self.x, Id(window), ctypes.byref(title)) and title.value:
                found.append((title.value.decode(), window, a.x, a.y, a.width, a.height))
        if count.value:
            x11.XFree(children)
        return found

    def find(self, title, seconds=20, alive=lambda: True):
        """The window with that title; None if there is none after so long, or the program has ended."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and alive():
            for one in self.windows():
                if one[0] == title:
                    return one[1]
            time.sleep(0.01)
        return None

    def focus(self, window):
        x11.XSetInputFocus(self.x, Id(window), 1, Id(0))
        x11.XRaiseWindow(self.x, Id(window))

    def place(self, window, x, y, width, height):
        x11.XMoveResizeWindow(self.x, Id(window), x, y, width, height)

    def _code(self, name):
        """The key that prints it or has that name, and whether with Shift."""
        if name not in self.codes:
            sym = x11.XStringToKeysym(SIGNS.get(name, name).encode())
            code = x11.XKeysymToKeycode(self.x, Id(sym)) & 0xFF
            self.codes[name] = (code, x11.XKeycodeToKeysym(self.x, ctypes.c_ubyte(code), 0) != sym)
        return self.codes[name]

    def key(self, press):
        """'q', 'Return', 'ctrl+shift+Right', '?'"""
        *held, name = press.split("+")
        code, shift = self._code(name)
        if shift and "shift" not in held:
            held.append("shift")
        down = [self._code({"ctrl": "Control_L", "shift": "Shift_L", "alt": "Alt_L"}[one])[0] for one in held]
        for one in [*down, code]:
            xtst.XTestFakeKeyEvent(self.x, one, 1, 0)
        for one in [code, *reversed(down)]:
            xtst.XTestFakeKeyEvent(self.x, one, 0, 0)
        x11.XFlush(self.x)

    def move(self, x, y):
        xtst.XTestFakeMotionEvent(self.x, -1, x, y, Id(0))
        x11.XFlush(self.x)

    def button(self, which, down):
        xtst.XTestFakeButtonEvent(self.x, which, int(down), Id(0))
        x11.XFlush(self.x)

    def click(self, which=1):
        self.button(which, True)
        self.button(which, False)

    def _tell(self, window, protocol, *more):
        message = Message(type=CLIENT_MESSAGE, window=window, message_type=self.atom("WM_PROTOCOLS"), format=32)
        message.data[0] = self.atom(protocol)
        for n, value in enumerate(more):
            message.data[n + 1] = value
        x11.XSendEvent(self.x, Id(window), False, ctypes.c_long(0), ctypes.byref(message))
        x11.XFlush(self.x)

    def ask_to_close(self, window):
        self._tell(window, "WM_DELETE_WINDOW")

    def answers(self, window, seconds=10, alive=lambda: True):
        """As a window manager asks whether a window still lives. Once it answers it has taken all events before that."""
        self.serial += 1
        self._tell(window, "_NET_WM_PING", self.serial, window)
        until, event = time.monotonic() + seconds, Message()
        while time.monotonic() < until:
            while x11.XPending(self.x):
                x11.XNextEvent(self.x, ctypes.byref(event))
                if event.type == CLIENT_MESSAGE and event.data[1] == self.serial:
                    return True
            if not alive():
                return False
            select.select([x11.XConnectionNumber(self.x)], [], [], 0.1)
        return False
