#!/usr/bin/env python3
"""circles.py [ROOT]: fails where the includes of app, core and cuda go in a circle, or up.

A unit is a header together with its source. Folders must not include each other in a circle, at any depth (a folder
counts without its subfolders); within one folder at most three units may. `forbidden` says which folders must not
know which. circles.py --self-test breaks each rule in a small tree of its own and looks whether it is found.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from small_tree import told, tree_of

# A folder with all below it: what it must not include
forbidden = {
    "core": ("app", "cuda"),
    "core/base": ("core/problem", "core/walk", "core/lessons", "core/class"),
    "core/problem": ("core/walk", "core/lessons", "core/class"),
    "core/cpu": ("core/walk", "core/lessons", "core/class"),
    "core/engine": ("core/walk", "core/lessons", "core/class"),
    "cuda": ("app",),
    "cuda/kernels": ("cuda/host", "core"),
    "app/io": ("app/ui", "app/render", "app/export", "app/cli", "app/window"),
    "app/ui": ("app/render", "app/export", "app/cli", "app/window"),
    "app/ui/kit": ("app/ui/state", "app/ui/parts", "app/ui/cards", "app/ui/chapters", "app/ui/shell"),
    "app/ui/state": ("app/ui/parts", "app/ui/cards", "app/ui/chapters", "app/ui/shell"),
    "app/ui/parts": ("app/ui/cards", "app/ui/chapters", "app/ui/shell"),
    "app/render": ("app/export", "app/cli", "app/window"),
    "app/export": ("app/cli", "app/window"),
}
most_in_circle = 3

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
ENDINGS = (".h", ".cpp", ".cu", ".cuh")


def unit_of(path):
    """core/trace.h and core/trace.cpp are one unit: core/trace."""
    return str(path.with_suffix(""))


def graph_of(root, rename=lambda path: path):
    """{unit: set of units that it includes}"""
    graph = {}
    for top in ("app", "core", "cuda"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in ENDINGS:
                continue
            here = file.relative_to(root)
            unit = unit_of(pathlib.Path(rename(str(here))))
            graph.setdefault(unit, set())
            for name in INCLUDE.findall(file.read_text()):
                target = root / name if (root / name).exists() else file.parent / name
                if target.exists():
                    other = unit_of(pathlib.Path(rename(str(target.relative_to(root)))))
                    if other != unit:
                        graph[unit].add(other)
    return graph


def circles(graph):
    """The strongly connected components of more than one node (Tarjan 1972), largest first."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = []
            while not component or component[-1] != node:
                component.append(stack.pop())
                on_stack.discard(component[-1])
            if len(component) > 1:
                found.append(sorted(component))

    sys.setrecursionlimit(10000)
    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found, key=len, reverse=True)


def folder_graph(graph):
    folders, ties = {}, {}
    for unit, others in graph.items():
        here = unit.rsplit("/", 1)[0]
        folders.setdefault(here, set())
        for other in others:
            there = other.rsplit("/", 1)[0]
            if there != here:
                folders[here].add(there)
                ties.setdefault((here, there), []).append(f"{unit} -> {other}")
    return folders, ties


def is_below(unit, folder):
    return unit.startswith(folder + "/")


def upward(graph):
    """(unit, other unit) for each include that `forbidden` forbids"""
    for unit, others in graph.items():
        for folder, unknown in forbidden.items():
            if is_below(unit, folder):
                yield from ((unit, other) for other in sorted(others) if any(is_below(other, f) for f in unknown))


def faults_of(root):
    """One line, or a few, for each fault of the tree below root"""
    graph = graph_of(root)
    faults = [f"{unit} must not include {other}" for unit, other in upward(graph)]
    folders, ties = folder_graph(graph)
    for circle in circles(folders):
        lines = ["folders in a circle: " + ", ".join(circle)]
        for (here, there), files in sorted(ties.items(), key=lambda tie: len(tie[1])):
            if here in circle and there in circle:
                lines.append(f"  {here} -> {there} ({len(files)}): {', '.join(files[:4])}")
        faults.append("\n".join(lines))
    for folder in folders:
        inside = {u: {o for o in others if o.rsplit("/", 1)[0] == folder}
                  for u, others in graph.items() if u.rsplit("/", 1)[0] == folder}
        for circle in circles(inside):
            if len(circle) > most_in_circle:
                faults.append(f"{len(circle)} files of {folder} in a circle: " + ", ".join(circle))
    return faults, f"{len(graph)} units in {len(folders)} folders"


# ---- Each rule can fail

def tree(includes):
    """A tree of headers that include what is said"""
    return tree_of({name: "".join(f'#include "{other}"\n' for other in others) for name, others in includes.items()})


def self_test():
    sound = {"core/base/a.h": [], "core/walk/b.h": ["core/base/a.h"], "app/ui/kit/c.h": ["core/walk/b.h"]}
    ring = [f"core/walk/{n}.h" for n in "wxyz"]
    broken = {
        "must not include": {"core/base/a.h": ["app/ui/kit/c.h"]},
        "folders in a circle": {"core/walk/b.h": ["core/study/d.h"], "core/study/d.h": ["core/walk/b.h"]},
        "4 files of core/walk in a circle": {ring[n]: [ring[(n + 1) % 4]] for n in range(4)},
    }
    missed = [] if not faults_of(tree(sound))[0] else ["a sound tree"]
    missed += [what for what, more in broken.items() if not any(what in line for line in faults_of(tree(sound | more))[0])]
    return told(missed, len(broken) + 1)


def main():
    if "--self-test" in sys.argv:
        return self_test()
    faults, size = faults_of(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    for fault in faults:
        print(fault)
    print(f"{size}, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
