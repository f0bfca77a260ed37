// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/process/error_state.hpp"
#include "objects/process/handle_table.hpp"

#include <cuda.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace cuprum::emulator {

class Device;
class GreenContext;
class Stream;

namespace builtins {
class Heap;
}

/// Throws INVALID_VALUE for flags that no context can have.
void check_context_flags(unsigned flags);

/// A CUDA context: streams, sticky error, limits.
///
/// A primary context keeps its handle for the life of the process. After it was torn down it can be
/// activated again. Any other context is active until it is destroyed.
class Context final : public Object, public std::enable_shared_from_this<Context> {
public:
    Context(Device& device, unsigned flags, bool is_primary);

    /// Makes the context usable, with no error and idle default streams.
    void activate();

    /// Waits for all work, then destroys every object that belongs to the context.
    void tear_down();

    [[nodiscard]] bool is_active() const noexcept {
        return is_active_.load(std::memory_order_acquire);
    }

    /// Throws CONTEXT_IS_DESTROYED or the sticky error if the context cannot be used.
    void check_usable() const;

    /// Waits for all work of the context. Ignores errors and stream captures.
    void drain();

    /// Returns whether drain() would return at once.
    [[nodiscard]] bool is_drained();

    /// Waits for all work of the context, then throws the sticky error if there is one.
    void synchronize();

    /// Creates a stream and keeps track of it.
    [[nodiscard]] std::shared_ptr<Stream>
    create_stream(unsigned flags, int priority, std::shared_ptr<GreenContext> green = nullptr);

    /// Returns the stream that NULL stands for in the legacy entry points.
    [[nodiscard]] std::shared_ptr<Stream> legacy_stream() const noexcept {
        return life_.load(std::memory_order_acquire)->legacy_stream;
    }

    /// Creates the default stream of the calling thread.
    [[nodiscard]] std::shared_ptr<Stream> create_per_thread_stream();

    /// Returns all streams that can have work, except the legacy one.
    [[nodiscard]] std::vector<std::shared_ptr<Stream>> streams();

    [[nodiscard]] std::shared_ptr<ErrorState> errors() const noexcept {
        return life_.load(std::memory_order_acquire)->errors;
    }

    [[nodiscard]] Device& device() const noexcept { return device_; }

    [[nodiscard]] bool is_primary() const noexcept { return is_primary_; }

    /// Counts the uses by cuCtxAttach. The one of cuCtxCreate is not included.
    std::atomic<std::uint32_t> attachment_count = 0;

    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

    /// Counts activations. Objects of an earlier activation of a primary context have another
    /// number.
    [[nodiscard]] std::uint64_t life() const noexcept {
        const Life* const now = life_.load(std::memory_order_acquire);
        return now == nullptr ? 0 : now->number;
    }

    [[nodiscard]] unsigned flags() const noexcept { return flags_.load(std::memory_order_relaxed); }

    void set_flags(unsigned flags) noexcept { flags_.store(flags, std::memory_order_relaxed); }

    /// Returns a limit. Throws UNSUPPORTED_LIMIT if this device does not have it.
    [[nodiscard]] std::size_t limit(CUlimit limit) const;

    void set_limit(CUlimit limit, std::size_t value);

    /// Returns the heap for malloc in kernels. It is created on first use, with the size that the
    /// limit has at that time.
    [[nodiscard]] std::shared_ptr<builtins::Heap> heap();

    /// Lets kernels of this context access memory of `peer`. Returns false if they could already.
    bool enable_peer(const Context& peer);

    /// Undoes enable_peer(). Returns false if access was not enabled.
    bool disable_peer(const Context& peer);

    std::atomic<CUfunc_cache> cache_config{CU_FUNC_CACHE_PREFER_NONE};

    /// Returns a number that no context, green or not, has had before.
    [[nodiscard]] static std::uint64_t next_id() noexcept;

    /// Returns how many contexts are active in the process.
    [[nodiscard]] static std::size_t active_count() noexcept;

    /// Keeps track of a stream, so that waiting for the context also waits for the stream.
    void keep(std::shared_ptr<Stream> stream);

private:
    /// The state that each activation of the context creates anew.
    struct Life {
        std::uint64_t number = 0;
        std::shared_ptr<ErrorState> errors;
        std::shared_ptr<Stream> legacy_stream;
        std::chrono::steady_clock::time_point began;
    };

    void drop_retired_streams();

    Device& device_;
    std::atomic<unsigned> flags_;
    bool is_primary_;
    std::uint64_t id_;
    std::atomic<bool> is_active_{false};
    std::atomic<const Life*> life_{nullptr}; // the last of lives_
    mutable std::mutex mutex_;               // guards the members below
    // Earlier lives are kept for a while, because other threads may still copy a pointer out of
    // one.
    std::deque<Life> lives_;
    std::vector<std::shared_ptr<Stream>> streams_;
    std::size_t next_sweep_ = 0; // how many streams there may be before idle ones are dropped
    std::map<std::uint64_t, int> peers_; // by id, with their device
    std::array<std::size_t, CU_LIMIT_MAX> limits_{};
    std::shared_ptr<builtins::Heap> heap_;
};

} // namespace cuprum::emulator
