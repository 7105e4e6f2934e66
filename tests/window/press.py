# press.py TITLE KEY... : keys in the window with that title, one after the other, each once the one before was taken; when what
# they have moved is at rest, the program's window is asked to close. Ends with 1 if there is no window or it takes no keys.
import sys
import time

from x11 import Display

FRAMES = 4  # until a field that a key opens has the keyboard: it answers once in each
REST = 2  # seconds

display = Display()
window = display.find(sys.argv[1])
if not window:
    sys.exit("no window " + sys.argv[1])
display.focus(window)
for key in sys.argv[2:]:
    display.key(key)
    if not all(display.answers(window, 60) for _ in range(FRAMES)):
        sys.exit(key + " was not taken")
time.sleep(REST)
display.ask_to_close(display.find("Tilewalk"))
