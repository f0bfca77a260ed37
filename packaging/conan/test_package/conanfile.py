# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Build and run a program with the package."""

from pathlib import Path

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class CuprumTest(ConanFile):
    """A user's project."""

    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeToolchain", "CMakeDeps", "VirtualRunEnv"

    def requirements(self):
        """Use the package under test."""
        self.requires(self.tested_reference_str)

    def layout(self):
        """Use the usual folders."""
        cmake_layout(self)

    def build(self):
        """Compile."""
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        """Run it; without the emulated device it only shows the version."""
        if can_run(self):
            program = Path(self.build_folder, self.cpp.build.bindir, "consumer")
            emulator = self.dependencies["cuprum"].options.emulator
            device = "CUPRUM_DRIVER=emulated" if emulator else ""
            self.run(f"{device} {program} {'' if emulator else '--without-device'}", env="conanrun")
