# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``cuprum``, which shows what is installed and what a trace holds."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with the given or the process's arguments; return its exit status."""
    parser = argparse.ArgumentParser(prog="cuprum", description="CUDA's object model for Python")
    parser.add_argument(
        "--version", action=_ShowVersion, help="show the version of the package and exit"
    )
    commands = parser.add_subparsers(dest="command", required=True)

    info = commands.add_parser("info", help="show devices, driver and compiler libraries")
    info.add_argument("--json", action="store_true", help="print it for programs to read")

    trace = commands.add_parser("trace", help="work with traces")
    actions = trace.add_subparsers(dest="action", required=True)
    report = actions.add_parser("report", help="print where the time went")
    report.add_argument("file", help="a trace made with CUPRUM_TRACE or cuprum.trace")
    report.add_argument("--top", type=int, default=15, help="lines per table")

    options = parser.parse_args(arguments)
    try:
        status = _run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` closes the pipe early
        # Prevent a second error when Python flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


class _ShowVersion(argparse.Action):
    """An option that prints the version, which is read only if it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print the version and exit."""
        import cuprum

        print(f"cuprum {cuprum.__version__}")
        parser.exit()


def _run(options: argparse.Namespace) -> int:
    # Import late, so that a wrong argument is reported before the driver is loaded.
    if options.command == "info":
        from cuprum._command import info as command

        return command.run(options.json)
    from cuprum._command import trace_report

    return trace_report.run(options.file, options.top)


if __name__ == "__main__":
    sys.exit(main())
