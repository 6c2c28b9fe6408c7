#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The functions that the public headers declare: for the linker's version script and for tools/check-symbols."""

import pathlib
import re
import sys


def declared_functions(headers):
    """Names tg_* that are declared (not defined inline, not function pointers) in the headers."""
    names = set()
    for header in headers:
        text = pathlib.Path(header).read_text(encoding="utf-8")
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        text = re.sub(r"//[^\n]*", " ", text)
        text = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", " ", text, flags=re.M)
        text = re.sub(r'extern\s+"C"\s*\{', " ", text)
        # Bodies of inline functions, structs and enums hold no declarations of ours.
        while True:
            shorter = re.sub(r"\{[^{}]*\}", ";", text)
            if shorter == text:
                break
            text = shorter
        for declaration in text.split(";"):
            if re.search(r"\b(typedef|static|inline)\b", declaration):
                continue
            match = re.search(r"(?<![\w(*])\*?\s*\b(tg_[a-z0-9_]+)\s*\(", declaration)
            if match:
                names.add(match.group(1))
    return sorted(names)


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "--version-script":
        names = declared_functions(sys.argv[3:])
        if not names:
            sys.exit("no function is declared in the public headers")
        body = "".join(f"        {name};\n" for name in names)
        pathlib.Path(sys.argv[2]).write_text(f"{{\n    global:\n{body}    local:\n        *;\n}};\n", encoding="utf-8")
    else:
        print("\n".join(declared_functions(sys.argv[1:])))


if __name__ == "__main__":
    main()
