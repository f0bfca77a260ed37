# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Print where the files of the C++ library are."""

import argparse

import libcuprum

PLACES = {
    "--cmake-prefix": (libcuprum.CMAKE_PREFIX, "the folder for CMAKE_PREFIX_PATH"),
    "--pkg-config-path": (libcuprum.PKG_CONFIG_FOLDER, "the folder for PKG_CONFIG_PATH"),
    "--include": (libcuprum.INCLUDE_FOLDER, "the folder of the headers"),
    "--library": (libcuprum.LIBRARY, "the shared library"),
}

parser = argparse.ArgumentParser(prog="python -m libcuprum", description=__doc__)
group = parser.add_mutually_exclusive_group(required=True)
for option, (place, text) in PLACES.items():
    group.add_argument(option, action="store_const", dest="place", const=place, help=text)
print(parser.parse_args().place)
