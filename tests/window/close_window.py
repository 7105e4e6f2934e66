# close_window.py WINDOW ask|cut : what a window manager sends to a window when its cross is clicked; or,
# as xkill does it, cuts the window's program off from the display.
import ctypes
import sys

x11 = ctypes.CDLL("libX11.so.6")
Window, Atom = ctypes.c_ulong, ctypes.c_ulong
x11.XOpenDisplay.restype = ctypes.c_void_p
x11.XInternAtom.restype = Atom


class ClientMessage(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int),
                ("display", ctypes.c_void_p), ("window", Window), ("message_type", Atom), ("format", ctypes.c_int),
                ("data", ctypes.c_long * 5), ("room", ctypes.c_long * 24)]


def main():
    window, how = int(sys.argv[1]), sys.argv[2]
    display = ctypes.c_void_p(x11.XOpenDisplay(None))
    if how == "cut":
        x11.XKillClient(display, Window(window))
    else:
        atom = lambda name: x11.XInternAtom(display, name, False)
        message = ClientMessage(type=33, window=window, message_type=atom(b"WM_PROTOCOLS"), format=32)
        message.data[0] = atom(b"WM_DELETE_WINDOW")
        x11.XSendEvent(display, Window(window), False, ctypes.c_long(0), ctypes.byref(message))
    x11.XCloseDisplay(display)


main()
