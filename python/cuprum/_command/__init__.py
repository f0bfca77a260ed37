# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``cuprum``: what is installed, what is wrong, what runs, and the emulated device."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

#: The exit statuses of the command; docs/command.md lists them.
SUCCESS = 0
FAILURE = 1
WRONG_ARGUMENTS = 2  # argparse
NOT_STARTED = 127  # `run`: the program cannot be started
INTERRUPTED = 130  # Ctrl-C

_SHELLS = ("bash", "zsh", "fish")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with the given or the process's arguments; return its exit status."""
    _prepare_output()
    parser = make_parser()
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        _parser_of(options, parser).error(f"unrecognized arguments: {' '.join(unknown)}")
    if options.command is None:
        parser.print_help(sys.stderr)
        return WRONG_ARGUMENTS
    try:
        status = _run(options)
        sys.stdout.flush()
    except OSError as error:  # the pipe or the disk of the output
        if not isinstance(error, BrokenPipeError):  # `| head` closes the pipe early
            print(f"cuprum: {error}", file=sys.stderr)
        # Prevent a second error when Python flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _prepare_output() -> None:
    """Let every text be printed, wherever it goes."""
    if sys.stdout is None:  # the shell closed it: `>&-`
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A terminal need not have all letters, and paths need not be text.
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def _parser_of(
    options: argparse.Namespace, parser: argparse.ArgumentParser
) -> argparse.ArgumentParser:
    """Return the parser of the command that was chosen, whose usage helps more than that of all."""
    for level in ("command", "action"):
        for part in parser._subparsers._group_actions if parser._subparsers else ():
            choices: dict[str, argparse.ArgumentParser] = dict(part.choices or {})
            parser = choices.get(getattr(options, level, ""), parser)
    return parser


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands. Completion reads it too."""
    parser = argparse.ArgumentParser(
        prog="cuprum",
        description="Show what CUDA programs find on this machine, and run them without a GPU.",
        epilog="cuprum COMMAND --help describes a command.",
    )
    parser.add_argument(
        "--version", action=_ShowVersion, help="show the version of the package and exit"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    info = commands.add_parser("info", help="show devices, driver and libraries")
    _add_json(info)

    doctor = commands.add_parser("doctor", help="find what would stop a program, and the way out")
    _add_json(doctor)

    top = commands.add_parser("top", help="show devices and processes, live")
    top.add_argument("--once", action="store_true", help="print one table and exit")
    top.add_argument(
        "--interval",
        type=_seconds,
        default=1.0,
        metavar="S",
        help="seconds between two tables (default 1)",
    )
    _add_json(top)

    _add_run(commands)

    trace = commands.add_parser("trace", help="work with traces")
    actions = trace.add_subparsers(dest="action", required=True, metavar="ACTION")
    report = actions.add_parser("report", help="print where the time went")
    report.add_argument("file", help="a trace made with CUPRUM_TRACE or cuprum.trace")
    report.add_argument("--top", type=_count, default=15, metavar="N", help="lines per table")
    _add_json(report)

    cache = commands.add_parser("cache", help="show or empty the cache of compiled programs")
    actions = cache.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text in (("info", "show its folder and size"), ("clear", "remove all its entries")):
        action = actions.add_parser(name, help=text)
        action.add_argument(
            "--path", metavar="FOLDER", help="the cache's folder, if it is not the default one"
        )
        _add_json(action)

    completion = commands.add_parser("completion", help="print what makes a shell complete words")
    completion.add_argument("shell", choices=_SHELLS)
    return parser


def _add_run(commands: argparse._SubParsersAction) -> None:
    run = commands.add_parser(
        "run",
        help="run any program on the emulated device",
        description="Run any program on the emulated device. Options end where the program begins.",
        usage="cuprum run [option ...] (PROGRAM | -m MODULE | -c CODE) [argument ...]",
    )
    run.add_argument("--devices", type=_count, metavar="N", help="how many devices it has")
    run.add_argument("--memory", metavar="SIZE", help="memory of each device, such as 4G")
    run.add_argument(
        "--compute-capability", metavar="X.Y", help="what the devices report, such as 10.0"
    )
    run.add_argument(
        "--check",
        type=_checks,
        metavar="LIST",
        help="checks: memory, initialized, races, graphs, or all",
    )
    run.add_argument(
        "--leaks", action="store_true", help="list what the program did not release at its end"
    )
    run.add_argument(
        "--drop-in",
        action="store_true",
        help="give the program Cuprum where it imports NVIDIA's cuda.core",
    )
    run.add_argument(
        "--gpu",
        action="store_true",
        help="with --drop-in: run on the GPU of this machine, not on the emulated device",
    )
    # Earlier versions needed this option for Numba. It has no effect now.
    run.add_argument("--driver-linker", action="store_true", help=argparse.SUPPRESS)
    # As Python's own options, they take all that follows.
    run.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, help="run a module with this Python"
    )
    run.add_argument("-c", dest="code", nargs=argparse.REMAINDER, help="run code with this Python")
    run.add_argument("program", nargs="?", help="the program; a .py file runs with this Python")
    arguments = run.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    arguments.required = False  # else Python 3.11 asks for them if the program is missing
    run.set_defaults(refuse=run.error)


class _ShowVersion(argparse.Action):
    """An option that prints the version, which is read only if it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print the version and exit."""
        import cuprum

        print(f"cuprum {cuprum.__version__}")
        parser.exit()


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print it for programs to read")


def _count(text: str) -> int:
    """Return a number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of at least 1")
    return int(text)


def _seconds(text: str) -> float:
    """Return a time between a tenth of a second and a day."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.1 <= value <= 86400:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds from 0.1 to 86400")
    return value


def _checks(text: str) -> str:
    """Return a list of checks that the emulated device knows."""
    known = ("memory", "initialized", "races", "graphs", "all", "exact", "window")
    if unknown := [word for word in text.split(",") if word not in known]:
        raise argparse.ArgumentTypeError(
            f"'{unknown[0]}' is not a check; expected a list of {', '.join(known[:5])}"
        )
    return text


def _run(options: argparse.Namespace) -> int:
    # Import late, so that a wrong argument is reported before the driver is loaded.
    if options.command == "info":
        from cuprum._command import info

        return info.run(options.json)
    if options.command == "doctor":
        from cuprum._command import doctor

        return doctor.run(options.json)
    if options.command == "top":
        from cuprum._command import top

        return top.run(options.json, options.once, options.interval)
    if options.command == "run":
        from cuprum._command import run

        return run.run(options)
    if options.command == "cache":
        from cuprum._command import cache

        return cache.run(options.action, options.path, options.json)
    if options.command == "completion":
        from cuprum._command import completion

        return completion.run(options.shell)
    from cuprum._command import trace_report

    return trace_report.run(options.file, options.top, options.json)


if __name__ == "__main__":
    sys.exit(main())
