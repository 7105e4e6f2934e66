"""corpus.py unpack FILE FOLDER: a file for each line of the corpus. pack FOLDER FILE BYTES: the other way round, the
smallest inputs first, until so many bytes are full. What does not print is written \\n, \\\\ or \\xHH."""
import hashlib
import pathlib
import re
import sys


def line_of(data):
    return "".join(
        "\\n" if b == 10 else "\\\\" if b == 92 else chr(b) if 32 <= b < 127 else f"\\x{b:02X}" for b in data)


def bytes_of(line):
    kinds = {"n": "\n", "\\": "\\"}
    text = re.sub(r"\\(x[0-9A-F]{2}|.)", lambda m: kinds.get(m[1]) or chr(int(m[1][1:], 16)), line)
    return text.encode("latin-1")


def unpack(file, folder):
    for line in pathlib.Path(file).read_text("ascii").splitlines():
        data = bytes_of(line)
        (pathlib.Path(folder) / hashlib.sha1(data).hexdigest()).write_bytes(data)


def pack(folder, file, most):
    lines, size = [], 0
    for data in sorted((p.read_bytes() for p in pathlib.Path(folder).iterdir()), key=lambda d: (len(d), d)):
        line = line_of(data)
        size += len(line) + 1
        if size > int(most):
            break
        lines.append(line)
    pathlib.Path(file).write_text("".join(line + "\n" for line in sorted(lines)), "ascii")


{"unpack": unpack, "pack": pack}[sys.argv[1]](*sys.argv[2:])
