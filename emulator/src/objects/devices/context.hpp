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

/// A device in use: streams, sticky error, limits.
///
/// A primary context keeps its handle for the life of the process and can be activated again after
/// it was torn down; any other is active from birth to destruction.
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

    /// Throws unless the context can be used: CONTEXT_IS_DESTROYED, or its sticky error.
    void check_usable() const;

    /// Waits for all work of the context, whatever became of it and whatever is captured.
    void drain();

    /// Waits for all work of the context; throws the sticky error if there is one afterwards.
    void synchronize();

    /// Makes a stream and keeps track of it.
    [[nodiscard]] std::shared_ptr<Stream>
    create_stream(unsigned flags, int priority, std::shared_ptr<GreenContext> green = nullptr);

    /// Returns the stream that NULL means in the legacy entry points.
    [[nodiscard]] std::shared_ptr<Stream> legacy_stream() const noexcept {
        return life_.load(std::memory_order_acquire)->legacy_stream;
    }

    /// Makes a default stream for the calling thread.
    [[nodiscard]] std::shared_ptr<Stream> create_per_thread_stream();

    /// Returns all streams that can have work, except the legacy one.
    [[nodiscard]] std::vector<std::shared_ptr<Stream>> streams();

    [[nodiscard]] std::shared_ptr<ErrorState> errors() const noexcept {
        return life_.load(std::memory_order_acquire)->errors;
    }

    [[nodiscard]] Device& device() const noexcept { return device_; }

    [[nodiscard]] bool is_primary() const noexcept { return is_primary_; }

    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

    /// Counts activations: what belongs to an earlier life of a primary context is told apart.
    [[nodiscard]] std::uint64_t life() const noexcept {
        const Life* const now = life_.load(std::memory_order_acquire);
        return now == nullptr ? 0 : now->number;
    }

    [[nodiscard]] unsigned flags() const noexcept { return flags_.load(std::memory_order_relaxed); }

    void set_flags(unsigned flags) noexcept { flags_.store(flags, std::memory_order_relaxed); }

    /// Returns a limit; throws UNSUPPORTED_LIMIT for one that this device does not have.
    [[nodiscard]] std::size_t limit(CUlimit limit) const;

    void set_limit(CUlimit limit, std::size_t value);

    /// Returns what malloc in kernels allocates from, made on first use with the size that the
    /// limit has then.
    [[nodiscard]] std::shared_ptr<builtins::Heap> heap();

    /// Records that kernels of this context may touch memory of `peer`; false if it was so already.
    bool enable_peer(const Context& peer);

    /// Undoes enable_peer(); false if there was nothing to undo.
    bool disable_peer(const Context& peer);

    std::atomic<CUfunc_cache> cache_config{CU_FUNC_CACHE_PREFER_NONE};

    /// Returns a number that no context, green or not, had before.
    [[nodiscard]] static std::uint64_t next_id() noexcept;

    /// Returns how many contexts are active in the process.
    [[nodiscard]] static std::size_t active_count() noexcept;

    /// Keeps track of a stream: whoever waits for the context waits for it.
    void keep(std::shared_ptr<Stream> stream);

private:
    /// What is new each time that the context is activated.
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
    mutable std::mutex mutex_;               // of what follows
    // And those before it for a while: other threads may be about to copy a pointer out of one.
    std::deque<Life> lives_;
    std::vector<std::shared_ptr<Stream>> streams_;
    std::size_t next_sweep_ = 0; // how many streams there may be before idle ones are dropped
    std::map<std::uint64_t, int> peers_; // by id, with their device
    std::array<std::size_t, CU_LIMIT_MAX> limits_{};
    std::shared_ptr<builtins::Heap> heap_;
};

} // namespace cuprum::emulator
