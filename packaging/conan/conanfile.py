# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Conan recipe of the C++ library, with the emulated device as an option.

``conan create packaging/conan -s compiler.cppstd=20`` in a clone builds it from the clone's
sources. CUDA's headers must be installed: Conan has no package of them. With the option
``emulator``, the zstd of the system is linked in.
"""

import re
import shutil
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.scm import Git

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("abi", "cmake", "core/include", "core/src", "emulator", "licenses")


class Cuprum(ConanFile):
    """CUDA's object model for C++20."""

    name = "cuprum"
    license = ("Apache-2.0", "BSD-3-Clause")
    description = "CUDA's object model for C++20, with an emulated device"
    topics = ("cuda", "gpu", "emulation")
    settings = "os", "arch", "compiler", "build_type"
    package_type = "shared-library"
    options = {"emulator": [True, False]}
    default_options = {"emulator": False}

    def set_version(self):
        """Read the version from the header that defines it."""
        header = (ROOT / "core/include/cuprum/version.hpp").read_text()
        self.version = ".".join(re.findall(r"CUPRUM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))

    def export_sources(self):
        """Export what the build reads: the tracked files of the library and the emulator."""
        tracked = Git(self, folder=str(ROOT)).run("ls-files").split("\n")
        names = ("CMakeLists.txt", "LICENSE", "NOTICE", "core/CMakeLists.txt")
        for name in tracked:
            if name in names or name.startswith(SOURCES):
                target = Path(self.export_sources_folder) / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, target)

    def validate(self):
        """Refuse what the library does not support."""
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("cuprum supports Linux only")
        check_min_cppstd(self, 20)

    def layout(self):
        """Use the usual folders."""
        cmake_layout(self)

    def generate(self):
        """Write what CMake reads."""
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["CUPRUM_EMULATOR"] = bool(self.options.emulator)
        for name in ("PYTHON", "TESTS", "EXAMPLES", "BENCHMARKS"):
            toolchain.cache_variables[f"CUPRUM_{name}"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        """Compile."""
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        """Install."""
        CMake(self).install()

    def package_info(self):
        """Let consumers use the CMake package that is installed."""
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/cuprum"]
        self.cpp_info.libs = ["cuprum"]
        self.cpp_info.set_property("pkg_config_name", "cuprum")
