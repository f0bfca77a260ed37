// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/nvml_types.hpp>
#include <cuprum/system/values.hpp>

namespace cuprum::system {

/// One NVLink of a device, from Device::nvlink().
///
/// @code
/// for (const cuprum::system::NvLink& link : cuprum::system::Device(0).nvlinks()) {
///     std::printf("link %u is %s\n", link.index(), link.is_active() ? "up" : "down");
/// }
/// @endcode
class CUPRUM_API NvLink {
public:
    /// Returns the number of the link.
    [[nodiscard]] unsigned index() const noexcept { return index_; }

    /// @throws std::runtime_error if NVML reports a version that is not known here.
    [[nodiscard]] NvLinkVersion version() const;
    /// Returns whether the link is up.
    [[nodiscard]] bool is_active() const;

private:
    friend class Device;

    NvLink(::nvmlDevice_st* device, unsigned index) noexcept : device_(device), index_(index) {}

    ::nvmlDevice_st* device_;
    unsigned index_;
};

} // namespace cuprum::system
