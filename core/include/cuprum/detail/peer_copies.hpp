// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

namespace cuprum::detail {

/// Chooses whether memory of pools that do not let the other device in is copied between devices
/// all the same, which the driver can; otherwise such copies fail. For bindings.
CUPRUM_API void set_peer_copies(bool is_on) noexcept;

} // namespace cuprum::detail
