# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The driver, the libraries and the module itself."""

VERSION: str

def follow_reference(is_on: bool) -> None:
    """Choose whether objects behave as those of cuda.core where the two differ."""

def driver_version() -> int:
    """Return the CUDA version that the driver supports, 13000 for 13.0.

    Returns
    -------
    int
        1000 times the major plus 10 times the minor number.

    Raises
    ------
    LibraryNotFoundError
        If there is no driver. The text shows the places that were searched.
    """

def driver_description() -> str:
    """Return which driver is in use and where it came from.

    Returns
    -------
    str
        One line for messages and reports.

    Raises
    ------
    LibraryNotFoundError
        If there is no driver. The text shows the places that were searched.
    """

class LibraryInfo:
    """A compiler library and where it was found."""

    @property
    def name(self) -> str:
        """Return the name."""

    @property
    def path(self) -> str:
        """Return the file, empty if it was not found."""

    @property
    def version(self) -> str:
        """Return the version."""

    @property
    def problem(self) -> str:
        """Return why it was not found."""

def compiler_libraries() -> list[LibraryInfo]:
    """Look for CUDA's compiler libraries and return what was found."""

def fast_paths() -> dict[str, str]:
    """Return the state of each fast path: on, disabled, off or not used yet."""
