"""SVG figures that stand inside a page among others."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from poscope.errors import PoscopeError

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_HREFS = ("href", f"{{{_XLINK}}}href")

# What a figure in a page must not bring along: code, foreign markup, and a creation date that differs from run to run.
_LEFT_OUT = {f"{{{_SVG}}}{name}" for name in ("script", "foreignObject", "metadata")}

_URL = re.compile(r"url\(\s*[\"']?#([^\"')]+)[\"']?\s*\)")
_STATEMENT = re.compile(r"@[^;{}]*;")
_BLOCK = re.compile(r"@[^{}]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_LENGTH = re.compile(r"([\d.]+)\s*(pt|px|in|)")
_PIXELS = {"pt": 96 / 72, "px": 1.0, "in": 96.0, "": 1.0}


@dataclass(frozen=True)
class InlineSvg:
    """Markup to place in a page.

    Attributes:
        markup: the element `svg`.
        width_px: the width that it was drawn for, in CSS pixels.
    """

    markup: str
    width_px: int


def inline_svg(path: str | os.PathLike[str], *, prefix: str, described_by: str) -> InlineSvg:
    """Make an SVG file fit to stand in a page: names of its own, its own styles kept to itself, nothing from outside.

    Args:
        path: the file.
        prefix: stands before each id, so that no two figures of a page share one.
        described_by: id of the page's element that says what the figure shows.

    Raises:
        PoscopeError: the file cannot be read, or is no SVG.
    """
    try:
        root = ElementTree.fromstring(Path(path).read_bytes())
    except OSError as error:
        raise PoscopeError(f"cannot read the figure {path}: {error.strerror or error}") from error
    except ElementTree.ParseError as error:
        raise PoscopeError(f"{path} is no SVG: {error}") from error
    if root.tag != f"{{{_SVG}}}svg":
        raise PoscopeError(f"{path} is no SVG: its root is {root.tag}")
    width = _width_px(root)
    _drop_unwanted(root)
    for element in root.iter():
        _rename(element, prefix)
        if element.tag == f"{{{_SVG}}}style" and element.text:
            element.text = _scoped(element.text, prefix)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"id": prefix, "role": "img", "aria-labelledby": described_by}
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    return InlineSvg(ElementTree.tostring(root, encoding="unicode").strip(), width)


def _width_px(root: ElementTree.Element) -> int:
    """The width that is stated, else that of the view box."""
    box = root.get("viewBox", "").replace(",", " ").split()
    found = _LENGTH.fullmatch(root.get("width", "").strip())
    if found:
        return round(float(found[1]) * _PIXELS[found[2]])
    return round(float(box[2])) if len(box) == 4 else 640


def _drop_unwanted(root: ElementTree.Element) -> None:
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in _LEFT_OUT:
                parent.remove(child)


def _rename(element: ElementTree.Element, prefix: str) -> None:
    for name, value in list(element.attrib.items()):
        if name == "id":
            element.set(name, f"{prefix}-{value}")
        elif name in _HREFS and value.startswith("#"):
            element.set(name, f"#{prefix}-{value[1:]}")
        elif name.startswith("on") or (name in _HREFS and not value.startswith("data:image/")):
            del element.attrib[name]
        else:
            element.set(name, _own_urls(value, prefix))


def _scoped(css: str, prefix: str) -> str:
    """Rules that hold inside one figure alone; comments and rules with an @ are left out."""
    plain = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    plain = _BLOCK.sub("", _STATEMENT.sub("", plain))
    rules = []
    for selectors, declarations in _RULE.findall(plain):
        inside = ", ".join(f"#{prefix} {selector.strip()}" for selector in selectors.split(","))
        rules.append(f"{inside} {{{_own_urls(declarations, prefix)}}}")
    return "\n".join(rules)


def _own_urls(text: str, prefix: str) -> str:
    return _URL.sub(lambda found: f"url(#{prefix}-{found[1]})", text)
