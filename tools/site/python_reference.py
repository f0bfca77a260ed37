# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Write the pages of the Python reference from the stub and the sources of the package.

Nothing is imported, so the site needs no build. `__all__` of each public module says what the
reference contains; a name that a module imports is followed to its definition. The compiled part of
the package is read from the stubs in `_cuprum`, from which the bindings take their texts too.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python/bindings/support"))
from write_stub_table import with_shared_members

# The families of the module `cuprum`, in the order of the overview. A name that no family lists
# goes to the last page.
FAMILIES = {
    "device": (
        "Devices and contexts",
        "Device DeviceProperties Host Context ContextOptions CurrentContext DeviceResources"
        " SMResource SMResourceOptions WorkqueueResource WorkqueueResourceOptions"
        " driver_version driver_description",
    ),
    "stream": (
        "Streams and events",
        "Stream StreamOptions AccessPolicyWindow Event EventOptions"
        " LEGACY_DEFAULT_STREAM PER_THREAD_DEFAULT_STREAM",
    ),
    "memory": (
        "Memory",
        "Buffer ManagedBuffer MemoryResource MemoryPool MemoryPoolAttributes DeviceMemoryResource"
        " DeviceMemoryResourceOptions PinnedMemoryResource PinnedMemoryResourceOptions"
        " ManagedMemoryResource ManagedMemoryResourceOptions LegacyPinnedMemoryResource"
        " SynchronousMemoryResource VirtualMemoryResource VirtualMemoryResourceOptions"
        " GraphMemoryResource GraphMemoryResourceAttributes IPCAllocationHandle",
    ),
    "tensor_map": ("Tensor maps", "TensorMapDescriptor TensorMapDescriptorOptions"),
    "program": (
        "Programs and linking",
        "Program ProgramOptions ObjectCode JITOptions Linker LinkerOptions compiler_version"
        " supported_architectures default_include_directories",
    ),
    "launch": (
        "Kernels and launches",
        "launch LaunchConfig Kernel KernelAttributes KernelOccupancy",
    ),
    "graphics": ("Graphics", "GraphicsResource gl_devices ExternalMemory ExternalSemaphore"),
    "errors": ("Errors", r"\w+Error"),
    "other": ("Other names", r"\w+"),
}
MODULES = {
    "cuprum.graph": "Graphs",
    "cuprum.texture": "Textures and surfaces",
    "cuprum.utils": "Arrays, batches and program caches",
    "cuprum.system": "System information",
    "cuprum.system.typing": "Types of system information",
    "cuprum.checkpoint": "Checkpoints",
    "cuprum.trace": "Traces",
    "cuprum.ipython": "Notebooks",
    "cuprum.testing": "Injected faults",
    "cuprum.typing": "Enumerations and types",
    "cuprum.triton": "Triton",
    "cuprum.torch": "PyTorch",
    "cuprum.drop_in": "The drop-in for cuda.core",
}
COMPILED = "cuprum._cuprum"

# The guides that belong to a page.
GUIDES = {
    "device": "guide/device guide/context",
    "stream": "guide/stream guide/event",
    "memory": "guide/memory guide/buffer guide/memory_resources guide/ipc",
    "tensor_map": "guide/tensor_map",
    "program": "guide/program guide/linker",
    "launch": "guide/launch guide/kernel",
    "graphics": "guide/graphics",
    "errors": "errors",
    "graph_module": "guide/graph guide/graph_capture",
    "texture_module": "guide/texture",
    "utils_module": "guide/arrays guide/program_cache",
    "system_module": "guide/system",
    "checkpoint_module": "guide/checkpoint",
    "trace_module": "guide/observe",
    "testing_module": "guide/observe emulator/ci",
    "triton_module": "emulator/libraries",
    "torch_module": "emulator/pytorch",
    "drop_in_module": "drop_in",
}

# What the examples in docstrings start with.
SETUP = """\
import cuprum
import numpy as np

device = cuprum.Device()
device.set_current()
stream = device.create_stream()
buffer = device.allocate(1024, stream=stream)
source = 'extern "C" __global__ void add_one(int* x) { x[threadIdx.x] += 1; }'
code = cuprum.Program(source, "c++").compile("cubin")
kernel = code.get_kernel("add_one")
"""

# Prefixes of names that a reader imports from cuprum itself.
PREFIX = re.compile(r"\b(?:cuprum\.)?(?:_\w+|typing|utils|system\.typing)\.(?=[A-Z])")
MAX_VALUE = 60
# The overview lists so many names of a page.
MAX_NAMES = 40


@dataclass
class Definition:
    """A name's definition."""

    name: str
    module: str  # the module that a reader imports it from
    node: ast.AST
    is_public: bool = True


class Sources:
    """The parsed modules of the package."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: dict[str, ast.Module] = {}

    def module(self, name: str) -> ast.Module:
        """Return a module, parsed when it is first needed."""
        if name not in self.modules:
            path = self.folder.parent / name.replace(".", "/")
            suffixes = (".pyi", ".py", "/__init__.pyi", "/__init__.py")
            candidates = [path.parent / (path.name + suffix) for suffix in suffixes]
            file = next(file for file in candidates if file.exists())
            self.modules[name] = with_shared_members(ast.parse(file.read_text()))
        return self.modules[name]

    def public_names(self, module: str) -> list[str]:
        """Return `__all__` of a module."""
        for node in self.module(module).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                return [str(name) for name in ast.literal_eval(node.value)]
        raise SystemExit(f"{module} has no __all__")

    def find(self, module: str, name: str) -> ast.AST | None:
        """Return what defines a name, following imports; None for a module."""
        for node in self.statements(self.module(module).body):
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
                return node
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        is_submodule = node.module in ("cuprum", module)
                        if is_submodule or not node.module.startswith("cuprum"):
                            return None
                        return self.find(node.module, alias.name)
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
                if isinstance(node.value, ast.Name):
                    return self.find(module, node.value.id) or node
                return node
            if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == name:
                return node
        return None

    def statements(self, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        """Yield statements, also those below `if TYPE_CHECKING`."""
        for node in body:
            if isinstance(node, ast.If):
                yield from self.statements(node.body)
                yield from self.statements(node.orelse)
            else:
                yield node


def public_definitions(sources: Sources) -> Iterator[tuple[str, ast.AST]]:
    """Yield what a program can import, each definition once, under the name that it is imported by.

    The classes of objects that others return follow at the end.
    """
    seen = set()
    names = [name for _, patterns in FAMILIES.values() for name in patterns.split()]
    pairs = [
        (module, name) for module in ("cuprum", *MODULES) for name in sources.public_names(module)
    ]
    for module, name in [*pairs, *((COMPILED, name) for name in names if name.isidentifier())]:
        node = sources.find(module, name)
        if node is not None and not name.startswith("__") and id(node) not in seen:
            seen.add(id(node))
            yield f"{module}.{name}", node


def write(package: Path, output: Path) -> list[str]:
    """Write the pages; return their names in order."""
    sources = Sources(package)
    output.mkdir(parents=True, exist_ok=True)
    lines = [
        "# Python reference",
        "",
        "The text is that of the docstrings. Sections named *Raises* list what a call raises",
        "besides the errors that every call can raise:",
        "",
        "- `CUDAError`, if the driver reports a failure;",
        "- `ClosedError`, if an object was closed or its device was reset;",
        "- `TypeError` or `ValueError`, for an argument of the wrong type or value.",
        "",
        "[Errors](../../errors.md) describes them. Every example starts with these lines:",
        "",
        f"```python\n{SETUP}```",
        "",
    ]
    pages = []

    def add(page: str, title: str, module: str, definitions: list[Definition]) -> None:
        text = render_page(sources, title, module, definitions)
        links = [f":doc:`../../{guide}`" for guide in GUIDES.get(page, "").split()]
        if links:
            head = f"{title}\n{'=' * len(title)}\n"
            text = text.replace(head, f"{head}\nGuides: {', '.join(links)}.\n", 1)
        (output / f"{page}.rst").write_text(text)
        pages.append(f"{page}.rst")
        public = [item.name for item in definitions if item.is_public]
        names = ", ".join(f"{{py:obj}}`{name} <{module}.{name}>`" for name in public[:MAX_NAMES])
        if len(public) > MAX_NAMES:
            names += ", …"
        lines.extend([f"## [{title}]({page}.rst)", "", f"From `{module}`: {names}", ""])

    left = [name for name in sources.public_names("cuprum") if not name.startswith("_")]
    for page, (title, patterns) in FAMILIES.items():
        definitions = []
        for pattern in patterns.split():
            for name in [name for name in left if re.fullmatch(pattern, name)]:
                left.remove(name)
                if node := sources.find("cuprum", name):
                    definitions.append(Definition(name, "cuprum", node))
            if not definitions or definitions[-1].name != pattern:
                # An object that others return; nobody imports its class.
                node = sources.find(COMPILED, pattern) if pattern.isidentifier() else None
                if isinstance(node, ast.ClassDef):
                    definitions.append(Definition(pattern, COMPILED, node, is_public=False))
        if definitions:
            add(page, title, "cuprum", definitions)
    for module, title in MODULES.items():
        found = [(name, sources.find(module, name)) for name in sources.public_names(module)]
        definitions = [Definition(name, module, node) for name, node in found if node]
        add(
            module.removeprefix("cuprum.").replace(".", "_") + "_module", title, module, definitions
        )
    (output / "index.md").write_text("\n".join(lines))
    return pages


def render_page(sources: Sources, title: str, module: str, definitions: list[Definition]) -> str:
    """Return one page."""
    out = [title, "=" * len(title), ""]
    if module != "cuprum":
        out += [f".. py:module:: {module}", ""]
        out += [docstring(sources.module(module), "module"), ""]
    current = module
    out += [f".. py:currentmodule:: {module}", ""]
    for item in definitions:
        if item.module != current:
            current = item.module
            out += [f".. py:currentmodule:: {current}", ""]
        out += [render(item), ""]
    return "\n".join(out)


def render(item: Definition) -> str:
    """Return a class, a function or a value."""
    node = item.node
    if isinstance(node, ast.ClassDef):
        return render_class(item, node)
    if isinstance(node, ast.FunctionDef):
        return directive("function", item.name + signature(node, skip_first=False), node)
    return directive("data", item.name, None, type_=annotation(getattr(node, "annotation", None)))


def render_class(item: Definition, node: ast.ClassDef) -> str:
    """Return a class with its members."""
    bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
    is_error = item.name.endswith("Error")
    kind = "exception" if is_error else "class"
    head = directive(kind, item.name + constructor(node), node)
    body = []
    public = [
        base for base in bases if not base.startswith("_") and base not in ("object", "Protocol")
    ]
    if "_NativeResource" in bases:
        public = ["MemoryResource"]
    if public:
        body.append("Bases: " + ", ".join(f":py:obj:`{base}`" for base in public) + "\n")
    if not item.is_public:
        body.append("Other objects return it; you do not create one.\n")
    is_enum = any(re.search(r"Enum$|Flag$", base) for base in bases)
    setters = {
        member.name
        for member in node.body
        if isinstance(member, ast.FunctionDef)
        and any(ast.unparse(mark).endswith(".setter") for mark in member.decorator_list)
    }
    seen = set()
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and member.name not in seen:
            text = render_member(member, settable=member.name in setters)
            if text:
                seen.add(member.name)
                body.append(text)
        elif is_enum and isinstance(member, ast.Assign):
            name = getattr(member.targets[0], "id", "_")
            if not name.startswith("_"):
                value = ast.unparse(member.value)
                body.append(f".. py:attribute:: {name}\n   :value: {value[:MAX_VALUE]}\n")
    return head + textwrap.indent("\n" + "\n".join(body), "   ")


def render_member(node: ast.FunctionDef, *, settable: bool) -> str:
    """Return a method or a property; empty for what the reference leaves out."""
    is_special = node.name.startswith("_")
    if node.name == "__init__" or (is_special and not node.name.endswith("__")):
        return ""
    if is_special and not ast.get_docstring(node):
        return ""
    marks = [ast.unparse(mark) for mark in node.decorator_list]
    if any(mark.endswith(".setter") for mark in marks):
        return ""
    if "property" in marks or "cached_property" in marks:
        text = directive("property", node.name, node, type_=annotation(node.returns))
        return text + ("\n   Can be set.\n" if settable else "")
    options = [f":{mark}:" for mark in ("staticmethod", "classmethod") if mark in marks]
    name = node.name + signature(node, skip_first="staticmethod" not in marks)
    return directive("method", name, node, options=options)


def directive(
    kind: str,
    head: str,
    node: ast.AST | None,
    *,
    type_: str = "",
    options: list[str] | None = None,
) -> str:
    """Return a directive of the Python domain with the docstring as its text."""
    lines = [f".. py:{kind}:: {head}", *(f"   {option}" for option in options or [])]
    if type_:
        lines.append(f"   :type: {type_}")
    text = docstring(node, kind) if node is not None else ""
    return "\n".join([*lines, "", textwrap.indent(text, "   "), ""])


def docstring(node: ast.AST, kind: str) -> str:
    """Return a docstring as reStructuredText."""
    # Sphinx is not installed where the tests of this file run.
    from sphinx.ext.napoleon import Config, NumpyDocstring

    text = ast.get_docstring(node) or ""  # type: ignore[arg-type]
    if not text:
        return ""
    config = Config(napoleon_use_ivar=True, napoleon_use_rtype=False)
    what = {"property": "attribute", "data": "attribute"}.get(kind, kind)
    text = str(NumpyDocstring(text, config, what=what))
    return text.strip()


# ---- signatures ---------------------------------------------------------------------------------


def signature(node: ast.FunctionDef, *, skip_first: bool) -> str:
    """Return the parameters and the result of a function."""
    arguments = node.args
    if skip_first:
        first = (arguments.posonlyargs or arguments.args)[:1]
        arguments = ast.arguments(
            posonlyargs=[item for item in arguments.posonlyargs if item not in first],
            args=[item for item in arguments.args if item not in first],
            vararg=arguments.vararg,
            kwonlyargs=arguments.kwonlyargs,
            kw_defaults=arguments.kw_defaults,
            kwarg=arguments.kwarg,
            defaults=arguments.defaults,
        )
    text = f"({clean(ast.unparse(arguments))})"
    return text + (f" -> {annotation(node.returns)}" if node.returns else "")


def constructor(node: ast.ClassDef) -> str:
    """Return the parameters of a class; empty if programs do not call it."""
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and member.name == "__init__":
            if clean(ast.unparse(member.args)) == "self, *args: object, **kwargs: object":
                return ""
            return signature(member, skip_first=True).partition(" -> ")[0]
    if any("dataclass" in ast.unparse(mark) for mark in node.decorator_list):
        fields = []
        for member in node.body:
            if isinstance(member, ast.AnnAssign):
                text = f"{ast.unparse(member.target)}: {annotation(member.annotation)}"
                if member.value is not None:
                    text += f" = {default(member.value)}"
                fields.append(text)
        return f"({', '.join(fields)})"
    return ""


def default(value: ast.expr) -> str:
    """Return the default of a field, short."""
    text = ast.unparse(value)
    return "..." if text.startswith("field(") else clean(text)


def annotation(node: ast.expr | None) -> str:
    """Return an annotation with the names that a reader imports."""
    return "" if node is None else clean(ast.unparse(node))


def clean(text: str) -> str:
    """Remove the private modules from the names in a piece of code."""
    return PREFIX.sub("", text)
