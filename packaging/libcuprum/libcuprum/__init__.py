# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The C++ library of Cuprum: where its files are.

``python -m libcuprum --cmake-prefix`` prints the folder for ``CMAKE_PREFIX_PATH``, and
``--pkg-config-path`` the one for ``PKG_CONFIG_PATH``.
"""

from __future__ import annotations

import os

__all__ = ["CMAKE_PREFIX", "INCLUDE_FOLDER", "LIBRARY", "PKG_CONFIG_FOLDER"]

CMAKE_PREFIX = os.path.dirname(os.path.abspath(__file__))
INCLUDE_FOLDER = os.path.join(CMAKE_PREFIX, "include")
LIBRARY = os.path.join(CMAKE_PREFIX, "lib", "libcuprum.so")
PKG_CONFIG_FOLDER = os.path.join(CMAKE_PREFIX, "lib", "pkgconfig")
