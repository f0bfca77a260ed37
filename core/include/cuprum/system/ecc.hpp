// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/nvml_types.hpp>
#include <cuprum/system/values.hpp>

#include <cstdint>

namespace cuprum::system {

/// The error correction of a device's memory, from Device::ecc().
///
/// @code
/// const cuprum::system::Ecc ecc = cuprum::system::Device(0).ecc();
/// try {
///     std::puts(ecc.is_enabled() ? "errors are corrected" : "errors are not corrected");
/// } catch (const cuprum::NVMLError&) {
///     std::puts("the device has no error correction");
/// }
/// @endcode
class CUPRUM_API Ecc {
public:
    /// Returns whether errors of the memory are corrected.
    [[nodiscard]] bool is_enabled() const;
    /// Returns whether it is enabled after the next reset.
    [[nodiscard]] bool is_pending() const;
    /// Enables or disables it from the next reset on. Needs root.
    void set_enabled(bool enabled) const;
    /// Returns how many errors there were in all memory.
    [[nodiscard]] std::uint64_t total_errors(MemoryErrorType type,
                                             EccCounter counter = EccCounter::Volatile) const;
    /// Sets the counts of errors to 0. Needs root.
    void clear_errors(EccCounter counter) const;
    /// Returns how many rows were replaced because of errors.
    [[nodiscard]] RemappedRows remapped_rows() const;

private:
    friend class Device;

    explicit Ecc(::nvmlDevice_st* device) noexcept : device_(device) {}

    ::nvmlDevice_st* device_;
};

} // namespace cuprum::system
