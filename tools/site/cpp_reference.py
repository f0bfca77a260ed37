# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Write the pages of the C++ reference, one for each public header.

Doxygen reads the headers and Breathe renders what it wrote. This program only decides which page
shows which header, and in which order.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from documentation_examples import SETUP

# The list of device attributes, which `cuprum/device.hpp` includes to declare a function for each.
ATTRIBUTES = Path(__file__).parents[2] / "core/include/cuprum/detail/device_attributes.def"

# What Breathe shows of a header, in this order; it leaves out what is private.
SECTIONS = (
    "briefdescription detaileddescription derivedcompoundref public-type public-static-func"
    " public-func public-attrib public-static-attrib innerclass innernamespace enum typedef func"
    " var define"
)

# The order of the headers on the overview. A header that no family names goes to the last one.
FAMILIES = {
    "Devices and contexts": "device context context_settings device_resources host checkpoint",
    "Streams and events": "stream stream_attributes event",
    "Memory": "buffer typed_buffer managed_buffer copy region memory_resource memory_pool"
    " virtual_memory_resource graph_memory_resource host_memory location ipc",
    "Arrays": "typed_view strided_memory_view strided_layout dlpack tensor_map",
    "Programs": "program object_code linker program_cache compiler",
    "Kernels and launches": "kernel typed_kernel launch launch_config",
    "Graphs": "graph/.*",
    "Textures and surfaces": "texture/.*",
    "Graphics": "graphics/.*",
    "System": "system/.*",
    "Errors and observation": "error warning trace fault_injection",
    "Other": ".*",
}

# The guides whose examples use the headers of a family.
GUIDES = {
    "Devices and contexts": "guide/device guide/context guide/checkpoint",
    "Streams and events": "guide/stream guide/event",
    "Memory": "guide/memory guide/buffer guide/typed_buffer guide/memory_resources guide/ipc",
    "Arrays": "guide/arrays guide/tensor_map",
    "Programs": "guide/program guide/linker guide/program_cache",
    "Kernels and launches": "guide/launch guide/kernel",
    "Graphs": "guide/graph guide/graph_capture",
    "Textures and surfaces": "guide/texture",
    "Graphics": "guide/graphics",
    "System": "guide/system",
    "Errors and observation": "errors guide/observe",
}


def write(xml: Path, output: Path) -> list[str]:
    """Write the pages; return those of the families in order."""
    headers = name_files_by_path(xml)
    output.mkdir(parents=True, exist_ok=True)
    lines = [
        "# C++ reference",
        "",
        "`#include <cuprum/cuprum.hpp>` includes every header of this list. All names are in the",
        "namespace `cuprum`. The text is that of the headers.",
        "",
        "*Throws* lists what a function throws besides the errors that every function can throw:",
        "`CUDAError` if the driver reports a failure, `ClosedError` if an object was closed or its",
        "device was reset. [Errors](../../errors.md) describes them.",
        "",
        "Every class has an example. The tests compile all of them, and run those that need",
        "nothing special. Each one starts with these lines:",
        "",
        f"```cpp\n{SETUP}```",
        "",
    ]
    families = []
    for family, names in FAMILIES.items():
        rows, pages = [], []
        for pattern in names.split():
            found = [name for name in headers if re.fullmatch(f"cuprum/{pattern}\\.hpp", name)]
            for name in sorted(found):
                page = name.removeprefix("cuprum/").removesuffix(".hpp").replace("/", "_") + ".md"
                declared = headers.pop(name)
                if not declared:
                    continue
                (output / page).write_text(header_page(name, family))
                pages.append(page)
                rows.append(
                    f"| [`{name}`]({page}) | {', '.join(reference(item) for item in declared)} |"
                )
        if rows:
            table = ["| header | declares |", "|---|---|", *rows, ""]
            families.append(family_page(output, family, table, pages))
            lines += [f"## [{family}]({families[-1]})", "", *table]
    (output / "index.md").write_text("\n".join(lines))
    return families


def family_page(output: Path, family: str, table: list[str], pages: list[str]) -> str:
    """Write the page that a family's headers stand below in the navigation; return its name."""
    name = f"family_{re.sub('[^a-z]+', '_', family.lower())}.md"
    tree = ["```{toctree}", ":hidden:", "", *pages, "```", ""]
    (output / name).write_text("\n".join([f"# {family}", "", guides(family), *table, *tree]))
    return name


def reference(name: str) -> str:
    """Return a link to a name of the namespace."""
    return f"{{cpp:any}}`{name} <cuprum::{name}>`"


def title(name: str) -> str:
    """Return the title of a header's page, such as `Stream attributes (stream_attributes.hpp)`."""
    stem = Path(name).stem
    words = {"ipc": "IPC", "dlpack": "DLPack"}.get(stem, stem.replace("_", " ").capitalize())
    return f"{words} ({name.removeprefix('cuprum/')})"


def guides(family: str) -> str:
    """Return a line that leads to the guides, whose examples are compiled and run by the tests."""
    links = [f"[](../../{page}.md)" for page in GUIDES.get(family, "").split()]
    return f"Guides with examples: {', '.join(links)}.\n" if links else ""


def header_page(name: str, family: str) -> str:
    """Return the page of one header."""
    extra = attributes() if name == "cuprum/device.hpp" else ""
    return f"""# {title(name)}

{guides(family)}
```cpp
#include <{name}>
```

```{{doxygenfile}} {name}
:sections: {SECTIONS}
```
{extra}"""


def attributes() -> str:
    """Return the functions of DeviceProperties, which macros declare and Doxygen does not see."""
    found = re.findall(r"^CUPRUM_(INT|BOOL)_ATTRIBUTE\((\w+)", ATTRIBUTES.read_text(), re.MULTILINE)
    types = {"INT": "int", "BOOL": "bool"}
    rows = [f"| `{name}()` | `{types[kind]}` |" for kind, name in found]
    head = ["", "## Attributes of `DeviceProperties`", "", "| function | type |", "|---|---|"]
    return "\n".join([*head, *rows, ""])


def name_files_by_path(xml: Path) -> dict[str, list[str]]:
    """Rename the files in Doxygen's index to their paths; return the classes that each declares.

    Doxygen names a file by its last part, which `device.hpp` and `system/device.hpp` share.
    """
    for file in [*xml.glob("class*.xml"), *xml.glob("struct*.xml")]:
        # The page names its header once, not at each class.
        content = re.sub(r"\s*<includes [^>]*>[^<]*</includes>", "", file.read_text())
        if content != file.read_text():
            file.write_text(content)
    index = xml / "index.xml"
    text = index.read_text()
    headers = {}
    for file in sorted(xml.glob("*_8hpp.xml")):
        content = file.read_text()
        path = re.findall(r'<location file="([^"]+)"', content)[-1]
        text = re.sub(
            rf'(<compound refid="{file.stem}" kind="file"><name>)[^<]*', rf"\g<1>{path}", text
        )
        classes = re.findall(r"<innerclass [^>]*>([^<]*)</innerclass>", content)
        # Specialisations of std::hash need no page.
        content = re.sub(
            r"\s*<inner(?:class|namespace) [^>]*>std(?:::[^<]*)?</inner\w+>", "", content
        )
        content = re.sub(
            r"\s*<inner(?:class|namespace) [^>]*>[^<]*detail[^<]*</inner\w+>", "", content
        )
        if content != file.read_text():
            file.write_text(content)
        own = [name for name in classes if not re.search(r"^std::|detail", name)]
        enums = re.findall(r'<memberdef kind="enum".*?<name>(\w+)</name>', content, re.DOTALL)
        functions = re.findall(
            r'<memberdef kind="function".*?<name>(\w+)</name>', content, re.DOTALL
        )
        names = [re.sub(r"^cuprum::", "", name).split("&lt;")[0] for name in own] + enums
        headers[path] = list(dict.fromkeys(names or functions))
    if text != index.read_text():
        index.write_text(text)
    headers.pop("cuprum/cuprum.hpp", None)
    return headers
