// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What processes share: memory and events live in anonymous files of the system's.
//
// Such a file has no name in any file system, so nothing is left behind however a process ends. It
// begins with a header that says what it is; DATA_OFFSET bytes further on lies what it holds. A
// process gets at another's file by a descriptor that was sent to it, or through the other's
// entry in /proc where CUDA allows 64 plain bytes only.
//
// NOTE: whatever comes from another process is checked before it is believed. A file that could
// shrink is refused, since touching what is no longer there would kill us.

#pragma once

#include "objects/process/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace cuprum::emulator {

/// What a shared file holds.
enum class SharedKind : std::uint32_t {
    Pool = 1,     // the blocks of a memory pool
    Physical = 2, // memory of cuMemCreate
    Memory = 3,   // an allocation of cuMemAlloc
    Event = 4,
};

/// Checks the ways in which memory is to be shared: throws INVALID_VALUE for what CUDA does not
/// know, NOT_SUPPORTED for what it knows and is no file descriptor.
void check_handle_types(unsigned types);

/// Tells files apart: random bytes, made with the file.
using SharedToken = std::array<std::uint8_t, 16>;

/// The first bytes of a shared file.
struct SharedHeader {
    std::uint64_t magic = 0;
    std::uint32_t version = 0;
    SharedKind kind{};
    SharedToken token{};
    std::uint64_t bytes = 0;     // of data; 0 for a file that grows
    std::uint64_t max_bytes = 0; // Pool: CUmemPoolProps::maxSize
    std::int32_t location_type = 0;
    std::int32_t location_id = 0;
    std::int32_t allocation_type = 0;
    std::uint32_t handle_types = 0;
};

/// Where a process keeps a shared file, in the 64 bytes that CUDA's handles have.
struct SharedAddress {
    std::uint64_t magic = 0;
    SharedKind kind{};
    std::int32_t process = 0;
    std::int32_t descriptor = 0;
    std::uint32_t unused = 0;
    SharedToken token{};
    std::uint64_t offset = 0; // of the memory in the file
    std::uint64_t bytes = 0;
    std::uint64_t unused_too = 0;
};

static_assert(sizeof(SharedAddress) == 64);

/// An anonymous file that several processes can hold.
class SharedFile {
public:
    /// Where the data begin; the table of a pool lies between them and the header.
    static constexpr std::uint64_t DATA_OFFSET = std::uint64_t{2} << 20;

    /// Makes a file for `about`, whose magic, version and token are filled in here; throws
    /// OUT_OF_MEMORY.
    [[nodiscard]] static std::shared_ptr<SharedFile> create(SharedHeader about);

    /// Takes a descriptor that came from somewhere, which stays the caller's; throws INVALID_VALUE
    /// unless it is a shared file of that kind.
    [[nodiscard]] static std::shared_ptr<SharedFile> adopt(int descriptor, SharedKind kind);

    /// Opens another process's file; throws INVALID_HANDLE unless it is there and is the right one.
    [[nodiscard]] static std::shared_ptr<SharedFile> open(const SharedAddress& address);

    ~SharedFile();
    SharedFile(const SharedFile&) = delete;
    SharedFile& operator=(const SharedFile&) = delete;

    [[nodiscard]] const SharedHeader& header() const noexcept { return header_; }

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

    /// Returns a new descriptor of the file, for the caller to close.
    [[nodiscard]] int duplicate() const;

    /// Returns how another process finds this file.
    [[nodiscard]] SharedAddress address() const noexcept;

    /// Returns how many bytes of data the file has now.
    [[nodiscard]] std::uint64_t data_bytes() const;

    /// Makes the file longer; throws OUT_OF_MEMORY.
    void grow_to(std::uint64_t data_bytes);

    /// Gives the memory of a part of the data back to the system; it reads as zero afterwards.
    void discard(std::uint64_t offset, std::uint64_t bytes) noexcept;

    /// Writes into the room between header and data.
    void write_table(std::uint64_t offset, const void* data, std::size_t bytes);

    /// Reads from the room between header and data; false if the file does not let us.
    [[nodiscard]] bool read_table(std::uint64_t offset, void* data, std::size_t bytes) const;

private:
    SharedFile(int descriptor, const SharedHeader& header)
        : descriptor_(descriptor), header_(header) {}

    [[nodiscard]] static std::shared_ptr<SharedFile> check(int descriptor, SharedKind kind,
                                                           CUresult code);

    int descriptor_;
    SharedHeader header_;
};

} // namespace cuprum::emulator
