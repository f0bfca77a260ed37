// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/objects.hpp"

#include <cuprum/copy.hpp>

#include <optional>

namespace cuprum::python {

/// Returns the options of a copy; nothing for None.
/// @throws TypeError for anything but a CopyOptions.
[[nodiscard]] std::optional<CopyOptions> copy_options_argument(nb::handle options);

/// Returns a stream that copies with options can be enqueued on.
/// @throws TypeError, with the reason, if they cannot.
[[nodiscard]] const Stream& copy_stream_argument(nb::handle stream);

} // namespace cuprum::python
