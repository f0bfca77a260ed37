// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cuprum::emulator {

class PhysicalMemory;

/// The contents of all device memory of the process, kept in ordinary host memory.
///
/// save() moves them out and gives the pages behind device addresses back to the system. The
/// addresses stay taken. Pages of zeros cost nothing. Nothing may use device memory from save() to
/// restore(): no call is inside the driver and no work is pending.
class MemoryImage {
public:
    /// Moves the contents of device memory here.
    ///
    /// @throws DriverError NOT_SUPPORTED, naming the memory, if other processes share some of it;
    /// OUT_OF_MEMORY if the host has no room. Nothing has changed then.
    [[nodiscard]] static std::unique_ptr<MemoryImage> save();

    /// Moves the contents back to where they were.
    void restore();

    /// Returns how many bytes of contents are kept, without pages of zeros.
    [[nodiscard]] std::uint64_t kept_bytes() const noexcept;

    ~MemoryImage();
    MemoryImage(const MemoryImage&) = delete;
    MemoryImage& operator=(const MemoryImage&) = delete;

private:
    /// A range of whole pages that holds device memory.
    struct Piece {
        std::uint64_t base = 0; // its address; of a file: where it is mapped for the copy
        std::uint64_t bytes = 0;
        std::uint64_t offset = 0;               // in the buffer
        std::shared_ptr<PhysicalMemory> file{}; // nullptr for pages of the window
        std::vector<bool> kept{};               // by page
    };

    MemoryImage() = default;

    void add(Piece piece);
    void collect();
    void move_out(Piece& piece);
    void move_back(const Piece& piece);

    std::vector<Piece> pieces_;
    std::uint64_t bytes_ = 0;
    std::byte* buffer_ = nullptr;
};

} // namespace cuprum::emulator
