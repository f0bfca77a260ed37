// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Anonymous files, in which processes share memory and events.
//
// Such a file has no name in any file system, so nothing is left behind, even if a process crashes.
// It begins with a header that describes it. The data start at DATA_OFFSET. Another process
// receives a descriptor of the file. Where CUDA passes only 64 plain bytes, it opens the file
// through /proc instead.
//
// NOTE: everything from another process is untrusted input and is validated. A file that could
// shrink is refused, because an access past its end would kill the process.

#pragma once

#include "objects/process/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace cuprum::emulator {

/// The kind of a shared file.
enum class SharedKind : std::uint32_t {
    Pool = 1,     // the blocks of a memory pool
    Physical = 2, // memory of cuMemCreate
    Memory = 3,   // an allocation of cuMemAlloc
    Event = 4,
};

/// Checks the requested handle types. Throws INVALID_VALUE for unknown types, NOT_SUPPORTED for
/// types other than file descriptors.
void check_handle_types(unsigned types);

/// Identifies a file: random bytes, made with the file.
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

/// How to find a shared file of another process. It fits into the 64 bytes of CUDA's handles.
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
    /// Where the data begin. The table of a pool is between the header and the data.
    static constexpr std::uint64_t DATA_OFFSET = std::uint64_t{2} << 20;

    /// Creates a file with the header `about`, and fills in magic, version and token. Throws
    /// OUT_OF_MEMORY.
    [[nodiscard]] static std::shared_ptr<SharedFile> create(SharedHeader about);

    /// Opens the file of a descriptor, which the caller keeps. Throws INVALID_VALUE if it is not a
    /// shared file of this kind.
    [[nodiscard]] static std::shared_ptr<SharedFile> adopt(int descriptor, SharedKind kind);

    /// Opens another process's file. Throws INVALID_HANDLE if it does not exist or is another file.
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

    /// Returns the number of data bytes in the file.
    [[nodiscard]] std::uint64_t data_bytes() const;

    /// Makes the file longer. Throws OUT_OF_MEMORY.
    void grow_to(std::uint64_t data_bytes);

    /// Returns the memory of a part of the data to the system. That part then reads as zero.
    void discard(std::uint64_t offset, std::uint64_t bytes) noexcept;

    /// Writes to the space between header and data.
    void write_table(std::uint64_t offset, const void* data, std::size_t bytes);

    /// Reads from the space between header and data. Returns false if that fails.
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
