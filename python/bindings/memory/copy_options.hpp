// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/copy.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>

#include <optional>

namespace cuprum::python {

namespace nb = nanobind;

/// Returns the options of a copy; nothing for None.
/// @throws TypeError for anything but a CopyOptions.
[[nodiscard]] std::optional<CopyOptions> copy_options_argument(nb::handle options);

/// Returns a stream that copies with options can be enqueued on.
/// @throws TypeError, with the reason, if they cannot.
[[nodiscard]] const Stream& copy_stream_argument(nb::handle stream);

} // namespace cuprum::python
