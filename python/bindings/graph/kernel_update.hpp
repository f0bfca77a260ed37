// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// New arguments for kernel nodes, in definitions and in executable graphs.

#pragma once

#include "graph/executable_objects.hpp"
#include "graph/graph_objects.hpp"
#include "support/class.hpp"

#include <nanobind/nanobind.h>

namespace cuprum::python {

/// Adds KernelNode.update.
void add_kernel_update(Class<PyNodeOf<KernelNode>, PyGraphNode>& type);

/// Adds ExecutableKernelNode.update.
void add_kernel_update(ExecutableClass<ExecutableKernelNode>& type);

} // namespace cuprum::python
