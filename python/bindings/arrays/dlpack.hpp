// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/dlpack.hpp>

namespace cuprum::python {

namespace dlpack = cuprum::dlpack;

} // namespace cuprum::python
