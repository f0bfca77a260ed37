// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/nvml_types.hpp>
#include <cuprum/system/values.hpp>

#include <string>

namespace cuprum::system {

/// The memory that identifies a board, from Device::inforom().
///
/// @code
/// const cuprum::system::Inforom inforom = cuprum::system::Device(0).inforom();
/// try {
///     std::puts(inforom.image_version().c_str());
/// } catch (const cuprum::NVMLError&) {
///     std::puts("the device has no InfoROM");
/// }
/// @endcode
class CUPRUM_API Inforom {
public:
    /// Returns the version of one object.
    [[nodiscard]] std::string version(InforomObject object) const;
    /// Returns the version of the whole image.
    [[nodiscard]] std::string image_version() const;
    /// Returns a checksum of the configuration. Boards with the same one are configured alike.
    [[nodiscard]] unsigned configuration_checksum() const;
    /// Reads the memory and checks it.
    /// @throws NVMLError of the kind CORRUPTED_INFOROM if it is damaged.
    void validate() const;
    /// Returns when the log of the board was last written.
    [[nodiscard]] FlushTime bbx_flush_time() const;
    /// Returns the part number of the board.
    [[nodiscard]] std::string board_part_number() const;

private:
    friend class Device;

    explicit Inforom(::nvmlDevice_st* device) noexcept : device_(device) {}

    ::nvmlDevice_st* device_;
};

} // namespace cuprum::system
