#!/usr/bin/env python3
"""assemble.py BUILT PAGE SITE: the files of the browser edition, and all of them in one.

BUILT has tilewalk.js, tilewalk.wasm and kernels.wasm. SITE/index.html with tilewalk.js and tilewalk.wasm, to be served from anywhere; SITE/tilewalk.html alone, to be opened by a
double click. Their content security policies allow nothing else.
"""
import base64
import hashlib
import pathlib
import sys
import zlib


def hash_of(script):
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"


def page(frame, scripts, sources, connect, workers):
    for name, text in (("@SCRIPT_SOURCES@", sources), ("@CONNECT@", connect), ("@WORKERS@", workers), ("@SCRIPTS@", scripts)):
        frame = frame.replace(name, text)
    return frame


def section(name, data):
    """A section of WebAssembly that a browser keeps for the page and else passes over."""
    def counted(some):
        count, out = len(some), bytearray()
        while True:
            out.append(count & 127 | (128 if count > 127 else 0))
            count >>= 7
            if not count:
                return bytes(out) + some
    return b"\0" + counted(counted(name.encode()) + data)


def main():
    built, given, site = map(pathlib.Path, sys.argv[1:4])
    site.mkdir(parents=True, exist_ok=True)
    frame = (given / "index.html").read_text()
    glue = (given / "page.js").read_text() + (built / "tilewalk.js").read_text()
    # The kernels' own program travels packed within the first one: page.js unpacks it for its worker.
    wasm = (built / "tilewalk.wasm").read_bytes() + section("kernels", zlib.compress((built / "kernels.wasm").read_bytes(), 9))
    (site / "tilewalk.js").write_text(glue)
    (site / "tilewalk.wasm").write_bytes(wasm)
    (site / "index.html").write_text(page(frame, '<script src="tilewalk.js"></script>', "'self'", "'self'", "'self'"))

    # In one file: the program packed and as text, which is decoded before the rest begins; page.js unpacks it.
    first = "window.tilewalkPacked=Uint8Array.from(atob(document.getElementById('program').textContent),c=>c.charCodeAt(0));"
    data = '<script id="program" type="application/base64">' + base64.b64encode(zlib.compress(wasm, 9)).decode() + "</script>\n"
    glue = glue.replace("</script", "<\\/script")
    inline = data + f"<script>{first}</script>\n<script>{glue}</script>"
    (site / "tilewalk.html").write_text(page(frame, inline, hash_of(first) + " " + hash_of(glue), "'none'", "blob:"))


main()
