// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

namespace cuprum::detail {

/// Chooses whether copies between devices name both devices if a pool grants the other device no
/// access. If off, such copies fail. For bindings.
CUPRUM_API void set_peer_copies(bool is_on) noexcept;

} // namespace cuprum::detail
