#!/usr/bin/env python3
"""Does a browser draw the SVG of a step as the program draws the step?

    tests/svg/in_chromium.py build/tilewalk [FOLDER]

For several views: the program's PNG, its SVG as headless Chromium draws it, and how far apart they are. The
letters are smoothed differently, so both pictures are averaged over squares of 8 x 8 pixels first. Pictures stay
in FOLDER if one is given. Needs chromium-headless-shell; no test depends on it.
"""
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

WIDTH, HEIGHT, SQUARE = 1600, 900, 8
MEAN_LIMIT, WORST_LIMIT = 1, 45  # of 255: over the picture, and of its worst square

VIEWS = {
    "forward": ["--step", "17"],
    "light": ["--step", "17", "--theme", "light"],
    "contrast": ["--step", "30", "--theme", "contrast", "--example", "causal-8"],
    "presenter": ["--step", "17", "--presenter"],
    "backward": ["--lesson", "flash-backward", "--step", "20"],
    "softmax": ["--lesson", "softmax-2pass", "--step", "9"],
    "large": ["--random", "64x64", "--br", "8", "--bc", "8", "--step", "200"],
    "memory": ["--lesson", "memory"],
    "compare": ["--lesson", "compare"],
    "inside": ["--lesson", "inside"],
    "broken": ["--break", "no_correction", "--step", "24"],
}


def read_png(path):
    """Width, height and rows of RGB bytes of an 8-bit PNG without interlacing."""
    data = path.read_bytes()
    at, body, header = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        chunk = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", chunk)
        if kind == b"IDAT":
            body += chunk
        at += length + 12
    width, height, depth, colour = header[:4]
    assert depth == 8 and colour in (2, 6), path
    channels = 3 if colour == 2 else 4
    raw, stride = zlib.decompress(body), width * channels
    rows, before = [], bytearray(stride)
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        unfilter(kind, row, before, channels)
        rows.append(row)
        before = row
    return width, height, channels, rows


def unfilter(kind, row, before, channels):
    for x in range(len(row)) if kind else ():
        left = row[x - channels] if x >= channels else 0
        up, corner = before[x], before[x - channels] if x >= channels else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = up
        elif kind == 3:
            guess = (left + up) // 2
        else:
            way = left + up - corner
            guess = min((abs(way - left), 0, left), (abs(way - up), 1, up), (abs(way - corner), 2, corner))[2]
        row[x] = (row[x] + guess) & 255


def squares(path):
    """Mean brightness of each square."""
    width, height, channels, rows = read_png(path)
    out = []
    for y in range(0, height - SQUARE + 1, SQUARE):
        for x in range(0, width - SQUARE + 1, SQUARE):
            total = 0
            for row in rows[y : y + SQUARE]:
                part = row[x * channels : (x + SQUARE) * channels]
                total += sum(part) - (sum(part[3::4]) if channels == 4 else 0)
            out.append(total / (3 * SQUARE * SQUARE))
    return out


def main():
    program = sys.argv[1]
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    for name, words in VIEWS.items():
        png, svg, shot = (folder / f"{name}{ending}" for ending in (".png", ".svg", "-chromium.png"))
        for path in (png, svg):
            subprocess.run([program, "render", *words, "--size", f"{WIDTH}x{HEIGHT}", "-o", path], check=True)
        subprocess.run(
            ["chromium-headless-shell", "--no-sandbox", f"--screenshot={shot}", f"--window-size={WIDTH},{HEIGHT}",
             "--hide-scrollbars", svg.resolve().as_uri()],
            check=True, stderr=subprocess.DEVNULL)
        apart = [abs(a - b) for a, b in zip(squares(png), squares(shot), strict=True)]
        mean, worst = sum(apart) / len(apart), max(apart)
        where = apart.index(worst)
        across = WIDTH // SQUARE
        bad = mean > MEAN_LIMIT or worst > WORST_LIMIT
        failed |= bad
        print(f"{name:10} mean {mean:5.2f}  worst {worst:5.1f} at {where % across * SQUARE}, "
              f"{where // across * SQUARE}{'  <- too far apart' if bad else ''}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
