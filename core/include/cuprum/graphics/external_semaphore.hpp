// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/context.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace cuprum {

namespace detail {
struct Access;
struct ExternalSemaphoreState;
} // namespace detail

/// What a file descriptor of a semaphore stands for.
enum class ExternalSemaphoreType {
    OpaqueFd,   // a binary semaphore of Vulkan, exported as OPAQUE_FD
    TimelineFd, // a timeline semaphore of Vulkan, exported as OPAQUE_FD: it counts up
};

/// A semaphore of another API, such as Vulkan, that streams signal and wait for.
///
/// Copies share one import, which ends with the last of them, but not before the signals and waits
/// that they enqueued are done. Graphs that captured them keep it alive as well. Other code that
/// uses the handle must keep a copy until its work is done.
///
/// @code
/// // `descriptor` is a file descriptor that Vulkan exported for a binary semaphore.
/// const auto semaphore =
///     cuprum::ExternalSemaphore::from_fd(device.primary_context(), descriptor);
/// semaphore.wait(stream); // until Vulkan has drawn
/// cuprum::launch(stream, {.block = 32}, kernel, buffer);
/// semaphore.signal(stream);
/// @endcode
class CUPRUM_API ExternalSemaphore {
public:
    /// Imports a semaphore into a context. The caller keeps `descriptor`: the driver gets a
    /// duplicate of it.
    /// @throws std::invalid_argument if the descriptor is not open; CUDAError if the driver does
    /// not take this semaphore.
    [[nodiscard]] static ExternalSemaphore
    from_fd(const Context& context, int descriptor,
            ExternalSemaphoreType type = ExternalSemaphoreType::OpaqueFd);

    /// Returns the driver's `CUexternalSemaphore`.
    [[nodiscard]] CUexternalSemaphore handle() const;
    /// Returns the context that the semaphore was imported into.
    [[nodiscard]] Context context() const;
    /// Returns the kind of handle that was imported.
    [[nodiscard]] ExternalSemaphoreType type() const;

    /// Signals a binary semaphore after the work that `stream` holds now. Returns at once.
    /// @throws std::invalid_argument if it is a timeline semaphore, which needs a value.
    void signal(const Stream& stream) const;
    /// Raises a timeline semaphore to `value` after the work that `stream` holds now.
    /// @throws std::invalid_argument if it is a binary semaphore, which has no value.
    void signal(const Stream& stream, std::uint64_t value) const;
    /// Holds back later work on `stream` until a binary semaphore is signalled, and takes it.
    /// @throws std::invalid_argument if it is a timeline semaphore, which needs a value.
    void wait(const Stream& stream) const;
    /// Holds back later work on `stream` until a timeline semaphore has reached `value`.
    /// @throws std::invalid_argument if it is a binary semaphore, which has no value.
    void wait(const Stream& stream, std::uint64_t value) const;

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this share. Does not wait: if signals or waits are still enqueued, a later
    /// synchronisation ends the import. Calling it again does nothing.
    void close() noexcept { state_.reset(); }

    /// Compares handles.
    friend CUPRUM_API bool operator==(const ExternalSemaphore& left,
                                      const ExternalSemaphore& right) noexcept;

private:
    friend struct detail::Access;

    explicit ExternalSemaphore(std::shared_ptr<detail::ExternalSemaphoreState> state) noexcept
        : state_(std::move(state)) {}

    std::shared_ptr<detail::ExternalSemaphoreState> state_;
};

/// Returns handle and type for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const ExternalSemaphore& semaphore);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::ExternalSemaphore> {
    [[nodiscard]] CUPRUM_API std::size_t
    operator()(const cuprum::ExternalSemaphore& semaphore) const noexcept;
};
