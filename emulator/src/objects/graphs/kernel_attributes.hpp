// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/graphs/node_parameters.hpp"

#include <cuda.h>

namespace cuprum::emulator {

/// Returns an attribute of a kernel node, its default if it was never set; throws INVALID_VALUE for
/// one that kernel nodes do not have.
[[nodiscard]] CUkernelNodeAttrValue attribute_of(const KernelParameters& parameters,
                                                 CUkernelNodeAttrID attribute);

/// Sets an attribute of a kernel node; throws INVALID_VALUE for values that no launch accepts.
void set_attribute(KernelParameters& parameters, CUkernelNodeAttrID attribute,
                   const CUkernelNodeAttrValue& value);

} // namespace cuprum::emulator
