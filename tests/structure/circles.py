#!/usr/bin/env python3
"""circles.py [ROOT]: fails where the includes of app, core and cuda go in a circle.

A unit is a header together with its source. Folders must not include each other in a circle, at any depth (a folder
counts without its subfolders); within one folder at most three units may. `allowed` says which folders may know which.
"""
import pathlib
import re
import sys

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


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    graph = graph_of(root)
    faults = 0
    folders, ties = folder_graph(graph)
    for circle in circles(folders):
        faults += 1
        print("folders in a circle:", ", ".join(circle))
        for (here, there), files in sorted(ties.items(), key=lambda tie: len(tie[1])):
            if here in circle and there in circle:
                print(f"  {here} -> {there} ({len(files)}): {', '.join(files[:4])}")
    for folder in folders:
        inside = {u: {o for o in others if o.rsplit("/", 1)[0] == folder}
                  for u, others in graph.items() if u.rsplit("/", 1)[0] == folder}
        for circle in circles(inside):
            if len(circle) > 3:
                faults += 1
                print(f"{len(circle)} files of {folder} in a circle:", ", ".join(circle))
    print(f"{len(graph)} units in {len(folders)} folders, {faults} circles")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
