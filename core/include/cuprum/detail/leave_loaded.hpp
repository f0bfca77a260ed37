// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

namespace cuprum {
class Kernel;
class ObjectCode;
} // namespace cuprum

namespace cuprum::detail {

/// Leaves the driver's library of some code loaded for good: whoever has its handle unloads it. For
/// bindings.
/// @throws ClosedError if the object is closed.
CUPRUM_API void leave_loaded(const ObjectCode& code);
CUPRUM_API void leave_loaded(const Kernel& kernel);

} // namespace cuprum::detail
