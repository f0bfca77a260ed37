# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""CUDA C++ in the cells of a notebook.

``%load_ext cuprum.ipython`` adds two cell magics::

    %%cuda --launch 'scale[blocks, 256](buffer, 2.0)'
    __global__ void scale(float* values, float factor) { ... }

    %%cuda_trace
    launch(stream, config, scale, buffer, 2.0)

``%%cuda`` compiles the cell and gives each kernel a Python name. ``%%cuda_trace`` runs the cell and
shows when its driver calls, copies and kernels ran. IPython is needed for this module only.
"""

from __future__ import annotations

import argparse
import ast
import keyword
import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_cell_magic, magics_class
from IPython.display import display

import cuprum

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["CudaMagics", "load_ipython_extension"]


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add the magics; IPython calls this for ``%load_ext cuprum.ipython``.

    Parameters
    ----------
    shell : InteractiveShell
        Where the magics are added.
    """
    shell.register_magics(CudaMagics)


class _Parser(argparse.ArgumentParser):
    """A parser that raises where others exit."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"%%cuda: {message}\n{self.format_usage().strip()}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%%cuda", add_help=False, allow_abbrev=False)
    parser.add_argument("--arch", help="what to compile for, such as sm_90; default: the device")
    parser.add_argument("--std", help="the C++ standard, such as c++20")
    parser.add_argument("-I", "--include", action="append", default=[], metavar="FOLDER")
    parser.add_argument("-D", "--define", action="append", default=[], metavar="NAME[=VALUE]")
    parser.add_argument(
        "--instantiate",
        action="append",
        default=[],
        metavar="NAME",
        help="a template with its arguments, as in 'scale<float>', which becomes scale_float",
    )
    parser.add_argument("--fast-math", action="store_true", help="use fast, less exact functions")
    parser.add_argument("--code", metavar="NAME", help="a Python name for the compiled code")
    parser.add_argument(
        "--launch",
        metavar="CALL",
        help="run a kernel after compiling, as in 'scale[blocks, threads](buffer, 2.0)'",
    )
    parser.add_argument(
        "--stream",
        metavar="NAME",
        help="the stream of --launch; default: the default stream of the device",
    )
    return parser


@magics_class
class CudaMagics(Magics):
    """The cell magics ``%%cuda`` and ``%%cuda_trace``.

    Examples
    --------
    In a notebook, load the extension once. Then start a cell with ``%%cuda``.

    >>> %load_ext cuprum.ipython  # doctest: +SKIP
    """

    @line_cell_magic
    def cuda(self, line: str, cell: str | None = None) -> None:
        """Compile a cell of CUDA C++, and give each of its kernels a Python name.

        Parameters
        ----------
        line : str
            Options: ``--arch``, ``--std``, ``-I``, ``-D``, ``--instantiate``, ``--fast-math``,
            ``--code``, ``--launch`` and ``--stream``. ``%cuda --help`` shows them.
        cell : str or None
            The source.

        Raises
        ------
        UsageError
            If an option is wrong or the source does not compile. It shows the compiler's log.
        """
        parser = _parser()
        if line.strip() in ("--help", "-h"):
            print(parser.format_help())  # noqa: T201
            return
        if cell is None:
            raise UsageError("%%cuda starts a cell of CUDA C++; %cuda --help shows its options")
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"%%cuda: {error}: {line}") from None
        options = parser.parse_args(words)
        if options.code is not None and not _is_name(options.code):
            raise UsageError(f"%%cuda: --code is {options.code!r}; expected a Python name")
        call = None if options.launch is None else _Call(options.launch)
        stream = self._stream(options)
        code = self._compile(options, cell)
        kernels = _kernels(code, options.instantiate)
        if not kernels and not options.code:
            raise UsageError(
                "%%cuda: the cell has no kernel; a kernel is a function with __global__, and a "
                "template needs --instantiate 'name<arguments>'"
            )
        self.shell.push(kernels)
        if options.code:
            self.shell.push({options.code: code})
        if call is not None:
            call.run(self.shell.user_ns, kernels, stream)

    @cell_magic
    def cuda_trace(self, line: str, cell: str) -> None:
        """Run a cell of Python, and show when its driver calls, copies and kernels ran.

        Parameters
        ----------
        line : str
            A Python name for the `cuprum.trace.Timeline`, or nothing.
        cell : str
            What to run.

        Raises
        ------
        UsageError
            If `line` is not a name, or the cell fails. IPython has then shown why.
        """
        name = line.strip()
        if name and not _is_name(name):
            raise UsageError(f"%%cuda_trace: {name!r} is not a Python name for the timeline")
        with cuprum.trace.record() as timeline:
            result = self.shell.run_cell(cell)
        if not result.success:
            raise UsageError("%%cuda_trace: the cell failed; see above")
        if name:
            self.shell.push({name: timeline})
        display(timeline)

    def _stream(self, options: argparse.Namespace) -> cuprum.Stream | None:
        if options.stream is None:
            return None
        if options.launch is None:
            raise UsageError("%%cuda: --stream is for --launch, which is missing")
        stream = self.shell.user_ns.get(options.stream)
        if not isinstance(stream, cuprum.Stream):
            raise UsageError(
                f"%%cuda: --stream is {options.stream!r}; expected the name of a cuprum.Stream"
            )
        return stream

    def _compile(self, options: argparse.Namespace, cell: str) -> cuprum.ObjectCode:
        settings: dict[str, Any] = {
            # Reports and logs name the cell, and the emulated device shows its lines.
            "name": f"cell_{self.shell.execution_count}.cu",
            "lineinfo": True,
        }
        if options.arch:
            settings["arch"] = options.arch
        if options.std:
            settings["std"] = options.std
        if options.include:
            settings["include_path"] = options.include
        if options.define:
            settings["define_macro"] = [_macro(text) for text in options.define]
        if options.fast_math:
            settings["use_fast_math"] = True
        try:
            program = cuprum.Program(cell, "c++", cuprum.ProgramOptions(**settings))
            return program.compile("ptx", name_expressions=tuple(options.instantiate))
        except cuprum.NVRTCError as error:
            log = error.log.strip() or str(error)
            raise UsageError(f"%%cuda: the cell does not compile\n{log}") from None
        except ValueError as error:
            raise UsageError(f"%%cuda: {error}") from None


class _Call:
    """A launch written as ``kernel[grid, block](arguments)``."""

    _FORM = (
        "expected kernel[grid, block](arguments) or kernel[grid, block, shared_bytes](arguments)"
    )

    def __init__(self, text: str) -> None:
        self._text = text
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except SyntaxError as error:
            raise UsageError(f"%%cuda: --launch {text!r}: {error.msg}; {self._FORM}") from None
        if not (
            isinstance(tree, ast.Call)
            and not tree.keywords
            and isinstance(tree.func, ast.Subscript)
            and isinstance(tree.func.value, ast.Name)
            and isinstance(tree.func.slice, ast.Tuple)
            and len(tree.func.slice.elts) in (2, 3)
        ):
            raise UsageError(f"%%cuda: --launch {text!r}: {self._FORM}")
        self.name = tree.func.value.id
        self._shape = tree.func.slice
        self._arguments = ast.Tuple(tree.args, ast.Load())

    def run(
        self,
        names: dict[str, Any],
        kernels: dict[str, cuprum.Kernel],
        stream: cuprum.Stream | None,
    ) -> None:
        """Launch, and wait until the kernel is done."""
        if self.name not in kernels:
            known = ", ".join(sorted(kernels))
            raise UsageError(
                f"%%cuda: --launch: the cell has no kernel {self.name!r}; it has {known}"
            )
        if stream is None:
            device = cuprum.Device()
            device.set_current()
            stream = device.default_stream
        grid, block, *shared = self._value(self._shape, names)
        config = cuprum.LaunchConfig(grid=grid, block=block, shmem_size=shared[0] if shared else 0)
        cuprum.launch(stream, config, kernels[self.name], *self._value(self._arguments, names))
        stream.sync()

    def _value(self, tree: ast.Tuple, names: dict[str, Any]) -> Sequence[Any]:
        expression = ast.fix_missing_locations(ast.Expression(tree))
        # The text is a line of the user's own notebook.
        return eval(compile(expression, "<--launch>", "eval"), names)


def _kernels(code: cuprum.ObjectCode, instantiated: Sequence[str]) -> dict[str, cuprum.Kernel]:
    """Return the kernels of some code by the names that they get in Python."""
    found: dict[str, cuprum.Kernel] = {}
    for name in instantiated:
        found[re.sub(r"\W+", "_", name).strip("_")] = code.get_kernel(name)
    taken = {kernel.handle for kernel in found.values()}
    for symbol in code.kernel_names:
        kernel = code.get_kernel(symbol)
        if kernel.handle in taken:
            continue
        name = _source_name(symbol)
        if not _is_name(name):
            raise UsageError(
                f"%%cuda: a kernel has the name {name!r}, which Python reserves; rename it"
            )
        if name in found:
            raise UsageError(
                f"%%cuda: several kernels have the name {name!r}; rename one, or declare them "
                'extern "C"'
            )
        found[name] = kernel
    return found


def _is_name(text: str) -> bool:
    """Return whether a cell can use a name for a variable."""
    return text.isidentifier() and not keyword.iskeyword(text)


# In mangled names: literals such as Li3E, earlier parts such as S0_ and T1_, and sizes such as A8_.
_NUMBERS_THAT_ARE_NO_LENGTHS = re.compile(r"L[a-z]n?\d+E|[ST][0-9A-Z]*_|A\d+_")


def _source_name(symbol: str) -> str:
    """Return the last part of a function's name in the source; the symbol if it is not C++."""
    start = re.match(r"_Z(N[rVKRO]*)?", symbol)
    if start is None:
        return symbol
    name = symbol
    at = start.end()
    depth = 0  # inside the arguments of a template, which may be names themselves
    while at < len(symbol):
        if skipped := _NUMBERS_THAT_ARE_NO_LENGTHS.match(symbol, at):
            at = skipped.end()
        elif length := re.match(r"\d+", symbol[at:]):
            begin = at + length.end()
            at = begin + int(length.group())
            if depth == 0:
                name = symbol[begin:at]
            if depth == 0 and start.group(1) is None:
                break
        elif symbol[at] == "E":
            if depth == 0:
                break
            depth -= 1
            at += 1
        else:
            depth += symbol[at] in "INLXJF"
            at += 1
    return name


def _macro(text: str) -> str | tuple[str, str]:
    name, equals, value = text.partition("=")
    return (name, value) if equals else name
