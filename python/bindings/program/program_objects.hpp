// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the Python objects of programs, linkers and object code hold.

#pragma once

#include "support/held.hpp"
#include "support/python_objects.hpp"

#include <cuprum/linker.hpp>
#include <cuprum/object_code.hpp>
#include <cuprum/program.hpp>

#include <nanobind/nanobind.h>

#include <utility>

namespace cuprum::python {

using PyObjectCode = Held<ObjectCode>;

/// A program and the options it was made with.
struct PyProgram : Held<Program> {
    PyProgram(Program program, nb::object given)
        : Held<Program>(std::move(program)), options(std::move(given)) {}

    nb::object options; // a ProgramOptions
};

/// A linker and the options it was made with.
struct PyLinker : Held<Linker> {
    PyLinker(Linker linker, nb::object given)
        : Held<Linker>(std::move(linker)), options(std::move(given)) {}

    nb::object options; // a LinkerOptions
};

} // namespace cuprum::python
