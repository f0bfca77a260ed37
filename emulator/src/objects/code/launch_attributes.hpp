// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which values the attributes of launches, streams and kernel nodes may have.

#pragma once

#include <cuda.h>

namespace cuprum::emulator {

/// Throws INVALID_VALUE unless the value is one of CUclusterSchedulingPolicy.
void check_cluster_policy(CUclusterSchedulingPolicy policy);

/// Throws INVALID_VALUE unless an attribute can have the value. Most are hints, which have no
/// effect here; what launches, streams or nodes do not have at all is checked by them.
void check_attribute_value(CUlaunchAttributeID attribute, const CUlaunchAttributeValue& value);

} // namespace cuprum::emulator
