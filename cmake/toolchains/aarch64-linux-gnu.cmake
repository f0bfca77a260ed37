# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# Compiles for 64-bit ARM on another machine, and runs tests under qemu-user. Debian's packages
# g++-aarch64-linux-gnu and qemu-user-static provide both; tools/machines uses this file.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# -R limits the address space: qemu keeps a record of every reserved page, and the emulated device
# reserves 2 TiB where it can.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -R 40G -L /usr/aarch64-linux-gnu)
# Look for libraries and headers of the target only, but run programs of this machine.
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
