"""What the self-tests of circles.py and twice.py have in common."""
import pathlib
import tempfile


def tree_of(files):
    """A small tree of these files: {name: text}"""
    root = pathlib.Path(tempfile.mkdtemp())
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def told(missed, cases):
    """Says which cases were missed; the exit code."""
    for what in missed:
        print("the self-test misses:", what)
    print(f"self-test: {cases - len(missed)} of {cases}")
    return 1 if missed else 0
