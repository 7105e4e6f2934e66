#!/usr/bin/env python3
"""twice.py [ROOT]: fails where two files define a type of the same qualified name.

A program that has both in it has one of them twice, and the linker takes either's functions for both. Types of
anonymous namespaces and of functions have no name beyond their file; what one file defines twice stands in branches
of its #if. Of `apart` no two folders are ever in one program, and of `instead` either file is. twice.py --self-test
defines types in a small tree of its own and looks which are found.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from small_tree import told, tree_of

ENDINGS = (".h", ".cpp", ".cu", ".cuh")
tops = ("app", "core", "cuda", "tests")
# Each is a program or a library of its own
apart = ("tests/bench", "tests/cuda/prover", "tests/cuda/ptx", "tests/cuda/stubs", "tests/driver", "tests/fuzz",
         "tests/faults", "tests/mutation", "tests/window")
# Compiled in place of the other
instead = {"app/web/no_pdf.cpp": "app/export/pdf.cpp"}

# What has braces, quotes and words of its own, and no types: comments, literals, preprocessor lines
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^()\s\\]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                   r"|'(?:\\.|[^'\\\n])+'|^[ \t]*\#(?:\\\n|[^\n])*", re.M | re.S)
DIGITS = re.compile(r"(?<=\d)'(?=[\da-fA-F])")  # 1'000'000
TOKEN = re.compile(r"\[\[|\]\]|::|\w+|[^\s\w]")
KEYS = ("class", "struct", "union", "enum")


def balanced(tokens, at, opening, closing):
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    while at < len(tokens):
        depth += (tokens[at] == opening) - (tokens[at] == closing)
        at += 1
        if depth == 0:
            break
    return at


def name_of_type(head):
    """What `struct Name : Base` before a brace defines; "" where it has no name, None where it is no type."""
    at = 0
    while at < len(head):  # template <…>, alignas(…), [[…]], static, const, typedef
        if head[at] == "template" and head[at + 1:at + 2] == ["<"]:
            at = balanced(head, at + 1, "<", ">")
        elif head[at] in KEYS:
            break
        elif head[at] in ("export", "static", "const", "constexpr", "typedef", "inline", "mutable", "extern"):
            at += 1
        else:
            return None
    if at == len(head):
        return None
    at += 1
    if head[at:at + 1] in (["class"], ["struct"]):  # enum class
        at += 1
    while head[at:at + 1] in (["alignas"], ["[["], ["__attribute__"]):
        at = balanced(head, at, "[[", "]]") if head[at] == "[[" else balanced(head, at + 1, "(", ")")
    name = []
    depth = 0
    for token in head[at:]:
        if depth == 0 and token in (":", "final"):
            break
        if depth == 0 and token in ("(", "="):  # struct X f() {, struct X x = {
            return None
        depth += (token == "<") - (token == ">")
        name.append(token)
    if depth == 0 and len([t for t in name if re.match(r"[A-Za-z_]", t)]) > 1 and "<" not in name and "::" not in name:
        return None  # struct X x {
    return " ".join(name).replace(" :: ", "::")


def names_in(text):
    """The qualified names of the types that a file defines with linkage, in their order"""
    tokens = TOKEN.findall(NOISE.sub(" ", DIGITS.sub("", text)))
    found, scopes, head, depth = [], [], [], 0
    for token in tokens:
        if token in "()":
            depth += 1 if token == "(" else -1
        if token == "{":
            scope = scope_of(head) if depth == 0 else None
            scopes.append((scope, depth))
            depth = 0
            if scope and scope[0] == "type" and scope[1] and all(s and s[1] for s, _ in scopes):
                found.append("::".join(s[1] for s, _ in scopes if s[1] != "extern"))
            head = []
        elif token == "}":
            if scopes:
                depth = scopes.pop()[1]
            head = []
        elif token == ";":
            head = []
        elif token == ":" and head in (["public"], ["private"], ["protected"]):
            head = []
        else:
            head.append(token)
    if scopes:
        raise ValueError("its braces do not close")
    return found


def scope_of(head):
    """("namespace", name), ("type", name) or None; the name is "" where there is none"""
    words = [t for t in head if t != "inline"]
    if words[:1] == ["namespace"]:
        return "namespace", "".join(words[1:])
    if words == ["extern"]:  # extern "C"
        return "namespace", "extern"
    name = name_of_type(head)
    return None if name is None else ("type", name)


def program_of(file):
    return next((folder for folder in apart if file.startswith(folder + "/")), "")


def twice(root):
    """[(name, files)], and how many types there are"""
    files = {}
    for top in tops:
        for file in sorted((root / top).rglob("*")):
            if file.suffix in ENDINGS:
                here = str(file.relative_to(root))
                try:
                    names = names_in(file.read_text())
                except ValueError as why:
                    sys.exit(f"{here} cannot be read: {why}")
                for name in set(names):
                    files.setdefault(name, []).append(here)
    found = []
    for name, all_of in sorted(files.items()):
        together = {f for f in all_of for g in all_of if f != g and share_a_program(f, g)}
        if together:
            found.append((name, sorted(together)))
    return found, len(files)


def share_a_program(one, other):
    """What is a program of its own may have parts of the whole, but none of another one."""
    if instead.get(one) == other or instead.get(other) == one:
        return False
    return program_of(one) == program_of(other) or "" in (program_of(one), program_of(other))


# ---- It can fail

def self_test():
    head = "namespace tilewalk::ui {\nstruct Shown { int a; };\n}\n"
    missed, cases = [], 0
    for wanted, what, other in (
            (True, "struct", "namespace tilewalk { namespace ui {\nstruct Shown : Base<int> { int b; };\n} }"),
            (True, "class behind a template", "namespace tilewalk::ui {\ntemplate <class T> class [[nodiscard]] Shown final { T b; };\n}"),
            (True, "enum", "namespace tilewalk::ui {\nenum class Shown : char { a, b };\n}"),
            (True, "behind a function with braces, strings and digits",
             "namespace tilewalk::ui {\nint f() { return '{' + 1'000 + \"}{\"[0]; }\n// struct\nstruct Shown { int f(); };\n}"),
            (True, "behind an anonymous namespace", "namespace tilewalk::ui {\nnamespace {\nint a;\n}\nstruct Shown { int b; };\n}"),
            (False, "of an anonymous namespace", "namespace tilewalk::ui {\nnamespace {\nstruct Shown { int b; };\n}\n}"),
            (False, "of another namespace", "namespace tilewalk::io {\nstruct Shown { int b; };\n}"),
            (False, "of a type", "namespace tilewalk::ui {\nstruct Other { struct Shown { int b; }; };\n}"),
            (False, "of a function", "namespace tilewalk::ui {\nvoid f(int a) { struct Shown { int b; }; }\n}"),
            (False, "only declared", "namespace tilewalk::ui {\nstruct Shown;\nstruct Shown f() { return {}; }\n}"),
            (False, "in a comment", "namespace tilewalk::ui {\n// struct Shown {\n/* struct Shown { */\n}"),
            (False, "of another specialisation", "namespace tilewalk::ui {\ntemplate <> struct Shown<int> { int b; };\n}")):
        cases += 1
        found = twice(tree_of({"app/a.h": head, "app/b.cpp": other}))[0]
        if bool(found) != wanted or (wanted and found != [("tilewalk::ui::Shown", ["app/a.h", "app/b.cpp"])]):
            missed.append(what)
    cases += 1
    if twice(tree_of({"tests/cuda/ptx/a.h": head, "tests/cuda/prover/b.h": head}))[0]:
        missed.append("of programs of their own")
    return told(missed, cases)


def main():
    if "--self-test" in sys.argv:
        return self_test()
    found, size = twice(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    for name, files in found:
        print(f"{name} is defined in {' and in '.join(files)}")
    print(f"{size} types, {len(found)} defined twice")
    return 1 if found or size == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
