// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/context.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/texture/mipmapped_array.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace cuprum {

namespace detail {
struct Access;
struct ExternalMemoryState;
} // namespace detail

/// What a file descriptor of memory stands for.
enum class ExternalMemoryType {
    OpaqueFd, // Vulkan's VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, or an export of CUDA
    DmaBufFd, // a DMA-BUF: VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT; few drivers import it
};

/// How external memory is imported.
struct ExternalMemoryOptions {
    ExternalMemoryType type = ExternalMemoryType::OpaqueFd; // the kind of handle
    bool is_dedicated = false; // Vulkan allocated it for one image or buffer (dedicated allocation)

    friend bool operator==(const ExternalMemoryOptions&, const ExternalMemoryOptions&) = default;
};

/// Memory of another API, such as Vulkan, that CUDA can map.
///
/// Copies share one import, which ends with the last of them and of the buffers mapped from it. The
/// APIs see each other's writes once a semaphore orders them; see ExternalSemaphore.
///
/// @code
/// // `descriptor` is a file descriptor that Vulkan exported for 4096 bytes of memory.
/// const auto memory =
///     cuprum::ExternalMemory::from_fd(device.primary_context(), descriptor, 4096);
/// const cuprum::Buffer pixels = memory.map();
/// @endcode
class CUPRUM_API ExternalMemory {
public:
    /// Imports `bytes` of memory into a context. The caller keeps `descriptor`: the driver gets a
    /// duplicate of it.
    /// @throws std::invalid_argument if the descriptor is not open or the size is 0; CUDAError if
    /// the driver does not take this memory.
    [[nodiscard]] static ExternalMemory from_fd(const Context& context, int descriptor,
                                                std::size_t bytes,
                                                const ExternalMemoryOptions& options = {});

    /// Returns the driver's `CUexternalMemory`.
    [[nodiscard]] CUexternalMemory handle() const;
    /// Returns the context that the memory was imported into.
    [[nodiscard]] Context context() const;
    /// Returns the size in bytes.
    [[nodiscard]] std::size_t size() const;
    /// Returns the kind of handle that was imported.
    [[nodiscard]] ExternalMemoryType type() const;

    /// Maps all of the memory. The last share of the buffer unmaps it; it waits for its stream.
    [[nodiscard]] Buffer map() const;
    /// Maps a part of the memory.
    /// @throws std::invalid_argument if the part is empty or does not lie in the memory.
    [[nodiscard]] Buffer map(std::size_t offset, std::size_t bytes) const;

    /// Maps an image that lies `offset` bytes from the beginning as a mipmapped array, of one level
    /// unless `options` says more. The last share of the array unmaps it.
    /// @throws std::invalid_argument if the image does not begin in the memory; CUDAError if it
    /// does not fit or the driver cannot map it. A DMA-BUF has no arrays.
    [[nodiscard]] MipmappedArray map_mipmapped_array(std::size_t offset,
                                                     const MipmappedArrayOptions& options) const;

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this share. Calling it again does nothing.
    void close() noexcept { state_.reset(); }

    /// Compares handles.
    friend CUPRUM_API bool operator==(const ExternalMemory& left,
                                      const ExternalMemory& right) noexcept;

private:
    friend struct detail::Access;

    explicit ExternalMemory(std::shared_ptr<detail::ExternalMemoryState> state) noexcept
        : state_(std::move(state)) {}

    std::shared_ptr<detail::ExternalMemoryState> state_;
};

/// Returns handle and size for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const ExternalMemory& memory);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::ExternalMemory> {
    [[nodiscard]] CUPRUM_API std::size_t
    operator()(const cuprum::ExternalMemory& memory) const noexcept;
};
