#!/usr/bin/env python3
"""cut_fonts.py FONTS.CPP FOLDER: the fonts with the letters that the program draws of each, and no more.

FONTS.CPP is app/ui/kit/fonts.cpp, which lists them. Two faces have Western European letters, too, and DejaVu Sans has only what the
others lack.
"""
import pathlib
import re
import sys

from fontTools import subset
from fontTools.ttLib import TTFont

system = pathlib.Path("/usr/share/fonts")
with_latin = {"Inter-Regular.otf", "Inter-Medium.otf"}
# What lays out text in other programs; ImGui looks at none of it.
needless = ["GDEF", "GPOS", "GSUB", "kern", "FFTM", "meta", "DSIG", "STAT", "MATH", "gasp"]


def drawn_letters(source):
    block = re.search(r"constexpr std::string_view glyphs =(.*?);\n", source, re.DOTALL).group(1)
    text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', block))
    text = re.sub(r"\\u([0-9A-Fa-f]{4})", lambda found: chr(int(found[1], 16)), text)
    return set(re.sub(r"\\(.)", r"\1", text)) | {"\u0303"}


def cut(path, letters, out):
    options = subset.Options(layout_features=[], hinting=False, desubroutinize=True, notdef_outline=True, name_IDs=[])
    options.drop_tables += needless
    font = subset.load_font(str(path), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[ord(letter) for letter in letters])
    subsetter.subset(font)
    subset.save_font(font, str(out), options)


def main():
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    drawn = drawn_letters(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    latin = drawn | set(map(chr, range(0xA0, 0x100)))
    lacking = {"?"}  # ImGui wants one for what no font has
    faces = [system / "opentype/inter" / f"Inter-{name}.otf" for name in ("Regular", "Medium", "SemiBold", "Italic", "SemiBoldItalic")]
    faces += [system / "truetype/dejavu" / f"DejaVuSansMono{name}.ttf" for name in ("", "-Bold")]
    for path in faces:
        letters = latin if path.name in with_latin else drawn
        has = TTFont(path).getBestCmap()
        lacking |= {letter for letter in letters if ord(letter) not in has}
        cut(path, letters, folder / path.name)
    cut(system / "truetype/dejavu/DejaVuSans.ttf", lacking, folder / "DejaVuSans.ttf")


main()
