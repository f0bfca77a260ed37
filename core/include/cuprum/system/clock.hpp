// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/nvml_types.hpp>
#include <cuprum/system/values.hpp>

namespace cuprum::system {

/// One clock of a device, from Device::clock(). Frequencies are in MHz.
///
/// @code
/// const auto clock = cuprum::system::Device(0).clock(cuprum::system::ClockType::SM);
/// std::printf("%u of %u MHz\n", clock.current_mhz(), clock.max_mhz());
/// @endcode
class CUPRUM_API Clock {
public:
    /// Returns which clock it is.
    [[nodiscard]] ClockType type() const noexcept { return type_; }

    /// Returns the current frequency, or one that applications asked for.
    [[nodiscard]] unsigned current_mhz(ClockId id = ClockId::Current) const;
    /// Returns the highest frequency.
    [[nodiscard]] unsigned max_mhz() const;
    /// Returns the highest frequency that boosting reaches.
    [[nodiscard]] unsigned max_customer_boost_mhz() const;
    /// Returns the limits in one performance state.
    /// @throws std::invalid_argument unless `pstate` is from 0 to 15.
    [[nodiscard]] Range limits_of_pstate_mhz(int pstate) const;
    /// Returns the offset that a user set in one performance state, and its limits.
    /// @throws std::invalid_argument unless `pstate` is from 0 to 15.
    [[nodiscard]] ClockOffsets offsets(int pstate) const;

private:
    friend class Device;

    Clock(::nvmlDevice_st* device, ClockType type) noexcept : device_(device), type_(type) {}

    ::nvmlDevice_st* device_;
    ClockType type_;
};

} // namespace cuprum::system
