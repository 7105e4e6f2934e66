#!/usr/bin/env python3
"""alone.py ROOT: what of the browser edition can be tested without building it: how its files are put together, and the
page's script (page_alone.js, where there is node). browse.py tests the whole in a browser.
"""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

root = pathlib.Path(sys.argv[1])


def expect(holds, what):
    if not holds:
        sys.exit(f"alone.py: {what}")


def policy_of(page):
    return re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)


def check_assembly(folder):
    built, site = folder / "built", folder / "site"
    built.mkdir()
    wasm, kernels = b"\0asm\1\0\0\0", bytes(range(256)) * 9 + os.urandom(300)
    (built / "tilewalk.wasm").write_bytes(wasm)
    (built / "kernels.wasm").write_bytes(kernels)
    (built / "tilewalk.js").write_text("var Module = Module || {}; const text = '</script>';\n")
    subprocess.run([sys.executable, root / "cmake/web/assemble.py", built, root / "app/web", site], check=True)
    names = sorted(one.name for one in site.iterdir())
    expect(names == ["index.html", "tilewalk.html", "tilewalk.js", "tilewalk.wasm"], f"the site is {names}")
    for name in ("index.html", "tilewalk.html"):
        page = (site / name).read_text()
        expect("@" not in policy_of(page), f"{name} still has a place that nothing was put into: {policy_of(page)}")
        expect("'unsafe-eval'" not in policy_of(page) and "'unsafe-inline'" not in policy_of(page).split("style-src")[0],
               f"the policy of {name} allows too much: {policy_of(page)}")
        expect(re.findall(r"https?://", page.replace("http://www.w3.org", "")) == [], f"{name} names another host")
    single = (site / "tilewalk.html").read_text()
    for script in re.findall(r"<script>(.*?)</script>", single, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        expect(digest in policy_of(single), f"the policy does not allow the script that begins {script[:40]!r}")
    inside = re.search(r'<script id="program" type="application/base64">([^<]*)</script>', single).group(1)
    whole = (site / "tilewalk.wasm").read_bytes()
    expect(zlib.decompress(base64.b64decode(inside)) == whole, "the single file has another program in it")
    expect(whole.startswith(wasm + b"\0") and len(whole) > len(wasm) + 300, "the program has lost something, or lacks the kernels")
    node = find_node()
    if node:
        read = """const fs = require('fs'); const module = new WebAssembly.Module(fs.readFileSync(process.argv[1]));
const packed = WebAssembly.Module.customSections(module, 'kernels');
fs.writeFileSync(process.argv[2], require('zlib').inflateSync(Buffer.from(packed[0])));"""
        subprocess.run([node, "-e", read, site / "tilewalk.wasm", folder / "unpacked"], check=True)
        expect((folder / "unpacked").read_bytes() == kernels, "the packed kernels are not those that were built")


def find_node():
    return shutil.which("node") or shutil.which("nodejs")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_assembly(pathlib.Path(folder))
    node = find_node()
    if not node:
        print("alone.py: [skipped] the page's script: there is no node")
        return
    done = subprocess.run([node, root / "tests/web/page_alone.js", root / "app/web/page.js"])
    expect(done.returncode == 0, "the page's script fails")


main()
