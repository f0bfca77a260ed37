# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Caches of compiled programs."""

from __future__ import annotations

import abc
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from cuprum import _cuprum
from cuprum.typing import ObjectCodeFormatType, SourceCodeType

if TYPE_CHECKING:
    from typing_extensions import Self

    from cuprum._compile_options import ProgramOptions

# The targets that each language compiles to.
_TARGETS = {
    "c++": ("ptx", "cubin", "ltoir"),
    "ptx": ("cubin", "ptx"),
    "nvvm": ("ptx", "ltoir"),
}


class ProgramCacheResource(abc.ABC):
    """A store of compiled code, as bytes, under keys of bytes or str.

    ``Program.compile(..., cache=...)`` looks here before it compiles. Derive from it to keep code
    elsewhere. There is no ``in``: ask with ``get``, which cannot be overtaken by another process.

    Examples
    --------
    >>> cache = cuprum.utils.InMemoryProgramCache()
    >>> isinstance(cache, cuprum.utils.ProgramCacheResource)
    True
    >>> cache[b"key"] = b"code"
    >>> cache[b"key"]
    b'code'
    """

    @abc.abstractmethod
    def __getitem__(self, key: bytes | str) -> bytes:
        """Return the code under a key; KeyError if there is none."""

    @abc.abstractmethod
    def __setitem__(self, key: bytes | str, value: object) -> None:
        """Keep code, bytes-like or an ObjectCode, under a key."""

    @abc.abstractmethod
    def __delitem__(self, key: bytes | str) -> None:
        """Remove the code under a key; KeyError if there is none."""

    @abc.abstractmethod
    def __len__(self) -> int:
        """Return how many pieces of code there are."""

    @abc.abstractmethod
    def clear(self) -> None:
        """Remove everything.

        Raises
        ------
        OSError
            If the cache cannot write to where it keeps code.
        """

    def get(self, key: bytes | str, default: bytes | None = None) -> bytes | None:
        """Return the code under a key, or a default.

        Parameters
        ----------
        key : bytes or str
            The key, as for ``cache[key]``.
        default : bytes, optional
            What to return if there is no code.

        Returns
        -------
        bytes or None
            The code or the default.

        Raises
        ------
        TypeError
            If the key is neither bytes nor str.
        OSError
            If the cache cannot read where it keeps code.
        """
        try:
            return self[key]
        except KeyError:
            return default

    def update(
        self,
        items: Mapping[bytes | str, object] | Iterable[tuple[bytes | str, object]],
        /,
    ) -> None:
        """Keep several pieces of code, from a mapping or from pairs of key and code.

        Parameters
        ----------
        items : Mapping[bytes | str, object] | Iterable[tuple[bytes | str, object]]
            Keys and code.

        Raises
        ------
        TypeError
            If a key is neither bytes nor str, or a value is neither bytes-like nor an ObjectCode.
        OSError
            If the cache cannot write to where it keeps code.
        """
        pairs = items.items() if isinstance(items, Mapping) else items
        for key, value in pairs:
            self[key] = value

    def close(self) -> None:  # noqa: B027 -- most caches have nothing to give up
        """Give up what the cache holds. Calling it again does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class _CoreCache(ProgramCacheResource):
    """A cache that the compiled library implements."""

    _core: _cuprum.InMemoryCache | _cuprum.FileStreamCache

    def __getitem__(self, key: bytes | str) -> bytes:
        code = self._core.get(_key_bytes(key))
        if code is None:
            raise KeyError(key)
        return code

    def __setitem__(self, key: bytes | str, value: object) -> None:
        self._core.put(_key_bytes(key), _code_bytes(value))

    def __delitem__(self, key: bytes | str) -> None:
        if not self._core.remove(_key_bytes(key)):
            raise KeyError(key)

    def __len__(self) -> int:
        """Return how many pieces of code there are."""
        return self._core.count()

    def clear(self) -> None:
        """Remove everything.

        Raises
        ------
        OSError
            If the cache cannot write to where it keeps code.
        """
        self._core.clear()

    def get(self, key: bytes | str, default: bytes | None = None) -> bytes | None:
        """Return the code under a key, or a default.

        Parameters
        ----------
        key : bytes or str
            The key, as for ``cache[key]``.
        default : bytes, optional
            What to return if there is no code.

        Returns
        -------
        bytes or None
            The code or the default.

        Raises
        ------
        TypeError
            If the key is neither bytes nor str.
        OSError
            If the cache cannot read where it keeps code.
        """
        code = self._core.get(_key_bytes(key))
        return default if code is None else code

    @property
    def size_bytes(self) -> int:
        """Return what all code takes, in memory or on disk."""
        return self._core.size_bytes()


class InMemoryProgramCache(_CoreCache):
    """A cache of compiled code in memory, which lives as long as the object.

    Parameters
    ----------
    max_size_bytes : int, optional
        Past this much code, what was not used for longest is dropped. None is no limit.

    Raises
    ------
    TypeError
        If `max_size_bytes` is neither an int nor None.
    ValueError
        If `max_size_bytes` is less than 1.

    Examples
    --------
    >>> from cuprum.utils import InMemoryProgramCache
    >>> cache = InMemoryProgramCache(max_size_bytes=64 << 20)
    """

    def __init__(self, *, max_size_bytes: int | None = None) -> None:
        self._core = _cuprum.InMemoryCache(_size_limit(max_size_bytes))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} entries={len(self)} size_bytes={self.size_bytes}>"


class FileStreamProgramCache(_CoreCache):
    """A cache of compiled code in files, shared by processes at the same time and later.

    Files appear whole or not at all and have a checksum. A damaged file counts as missing: the
    cache warns, and the program is compiled again. Anyone who can write to the folder controls what
    code runs. So the default folder must belong to the user and be closed to others. A folder that
    you name is used in any case, with a warning if others can write to it. Its files then get the
    permissions of the folder, so that all its users share the code.

    Parameters
    ----------
    path : str or path, optional
        The folder. If it does not exist, it is created for the user only. None:
        ``CUPRUM_CACHE_DIR``, else ``cuprum/program-cache`` in ``XDG_CACHE_HOME`` or ``~/.cache``.
    max_size_bytes : int, optional
        If the cache exceeds this size, it drops what was not used for longest. None: no limit.

    Raises
    ------
    TypeError
        If `path` is not a path, or `max_size_bytes` is neither an int nor None.
    ValueError
        If `path` is empty, `max_size_bytes` is less than 1, or the default folder is open to other
        users.
    OSError
        If the folder cannot be made.

    Examples
    --------
    >>> cache = cuprum.utils.FileStreamProgramCache("cache", max_size_bytes=64 << 20)
    >>> program = cuprum.Program(source, "c++")
    >>> first = program.compile("cubin", cache=cache)
    >>> again = program.compile("cubin", cache=cache)  # from the cache
    >>> len(cache)
    1
    """

    _core: _cuprum.FileStreamCache

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, max_size_bytes: int | None = None
    ) -> None:
        self._core = _cuprum.FileStreamCache(path, _size_limit(max_size_bytes))

    @property
    def path(self) -> str:
        """Return the folder."""
        return self._core.path

    def __repr__(self) -> str:
        return f"<{type(self).__name__} path={self.path!r}>"

    def file_of(self, key: bytes | str) -> str:
        """Return the file that holds, or would hold, the code under a key.

        Parameters
        ----------
        key : bytes or str
            The key, as for ``cache[key]``.

        Returns
        -------
        str
            The path. The file need not exist.

        Raises
        ------
        TypeError
            If the key is neither bytes nor str.
        """
        return self._core.file_of(_key_bytes(key))


def set_default_program_cache(
    cache: InMemoryProgramCache | FileStreamProgramCache | None,
) -> None:
    """Make all programs use a cache where ``compile`` is given none; None ends that.

    Programs that cannot be cached, or that keep a source file for debuggers, are compiled as
    without it. Unless this is called, the environment variable ``CUPRUM_PROGRAM_CACHE`` decides:
    ``1`` is a ``FileStreamProgramCache`` of at most 1 GiB in its default folder.

    Parameters
    ----------
    cache : InMemoryProgramCache or FileStreamProgramCache or None
        The cache; other kinds are given to ``compile``.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if cache is not None and type(cache) not in (InMemoryProgramCache, FileStreamProgramCache):
        raise TypeError(
            "the default cache must be an InMemoryProgramCache or FileStreamProgramCache, got "
            f"{type(cache).__name__}; pass other caches to Program.compile"
        )
    _cuprum.set_default_cache(None if cache is None else cache._core)


def make_program_cache_key(
    *,
    code: str | bytes | bytearray,
    code_type: SourceCodeType | str,
    options: ProgramOptions,
    target_type: ObjectCodeFormatType | str,
    name_expressions: Sequence[str | bytes] = (),
    extra_digest: bytes | None = None,
) -> bytes:
    """Return the key of a compilation: 32 bytes over everything that decides its result.

    Parameters
    ----------
    code : str or bytes
        The source; bytes for NVVM only.
    code_type : SourceCodeType or str
        ``"c++"``, ``"ptx"`` or ``"nvvm"``.
    options : ProgramOptions
        How it is compiled.
    target_type : ObjectCodeFormatType or str
        What it is compiled to.
    name_expressions : sequence of str or bytes, optional
        For C++; in any order.
    extra_digest : bytes, optional
        Stands for the contents of all files that the source includes. Without it they are looked
        for, through ``include_path``, ``pre_include`` and the source's own folder.

    Returns
    -------
    bytes
        The key.

    Raises
    ------
    ValueError
        If the result depends on files that the key cannot see (names from macros, precompiled
        headers) and there is no ``extra_digest``, or if compiling has side effects that a result
        from a cache would skip.
    """
    language, target = _language_and_target(code_type, target_type)
    _check_code(code, language)
    if language != "nvvm" and options.extra_sources is not None:
        raise ValueError(
            f"ProgramOptions extra_sources is not supported for code_type {language!r}"
        )
    names = _checked_names(name_expressions) if language == "c++" else []
    if language == "ptx":
        flags = _cuprum.ptx_options(options)
    else:
        backend = "nvrtc" if language == "c++" else "nvvm"
        if language == "c++":
            _cuprum.check_cache_options(options, extra_digest is not None)
        flags = [flag.decode() for flag in options.as_bytes(backend, target)]
    return _cuprum.program_cache_key(code, language, target, options, flags, names, extra_digest)


def _language_and_target(code_type: str, target_type: str) -> tuple[str, str]:
    language = str(SourceCodeType(str(code_type).lower()))
    target = str(target_type).lower()
    if target not in _TARGETS[language]:
        if target not in list(ObjectCodeFormatType):
            raise ValueError(
                f"target_type must be one of {_TARGETS[language]}, got {target_type!r}"
            )
        raise ValueError(
            f"target_type {target!r} is not valid for code_type {language!r}; "
            f"expected one of {_TARGETS[language]}"
        )
    return language, target


def _check_code(code: object, language: str) -> None:
    if isinstance(code, str):
        return
    if not isinstance(code, (bytes, bytearray)):
        raise TypeError(f"code must be str or bytes, got {type(code).__name__}")
    if language != "nvvm":
        raise TypeError(f"code must be str for code_type {language!r}, got {type(code).__name__}")


def _checked_names(names: Iterable[object]) -> list[str]:
    checked = []
    for name in names:
        if isinstance(name, str):
            checked.append(name)
        elif isinstance(name, bytes):
            # Keep bytes and str apart: the result lists its kernels under the passed names.
            checked.append("bytes:" + name.decode())
        else:
            raise TypeError(f"name_expressions must be str or bytes, got {type(name).__name__}")
    return checked


def _key_bytes(key: object) -> bytes:
    if isinstance(key, str):
        return key.encode()
    if isinstance(key, bytes):
        return key
    raise TypeError(f"the key of a cache must be bytes or str, got {type(key).__name__}")


def _code_bytes(value: object) -> bytes | bytearray | memoryview:
    if isinstance(value, _cuprum.ObjectCode):
        code = value.code
        if isinstance(code, bytes):
            return code
        try:
            with open(code, "rb") as file:
                return file.read()
        except FileNotFoundError as error:
            raise FileNotFoundError(
                error.errno, "the cache reads a path-backed ObjectCode, whose file is gone", code
            ) from None
    if isinstance(value, (bytes, bytearray, memoryview)):
        return value
    raise TypeError(f"a cache keeps bytes-like or ObjectCode, got {type(value).__name__}")


def _size_limit(max_size_bytes: int | None) -> int | None:
    if max_size_bytes is None:
        return None
    try:
        if isinstance(max_size_bytes, bool):
            raise TypeError
        limit = operator.index(max_size_bytes)  # also takes NumPy's integers
    except TypeError:
        kind = type(max_size_bytes).__name__
        raise TypeError(f"max_size_bytes must be an int or None, got {kind}") from None
    if limit <= 0:
        raise ValueError(f"max_size_bytes must be positive, or None for no limit; got {limit}")
    return limit


for _class in (ProgramCacheResource, InMemoryProgramCache, FileStreamProgramCache):
    _class.__module__ = "cuprum.utils"
make_program_cache_key.__module__ = "cuprum.utils"
set_default_program_cache.__module__ = "cuprum.utils"
