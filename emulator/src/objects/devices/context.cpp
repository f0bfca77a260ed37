// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/devices/context.hpp"

#include "builtins/heap.hpp"
#include "objects/code/module.hpp"
#include "objects/devices/device.hpp"
#include "objects/devices/peer_access.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/process/error.hpp"
#include "objects/process/restore_thread.hpp"
#include "objects/streams/event.hpp"
#include "objects/streams/stream.hpp"
#include "objects/textures/array.hpp"
#include "objects/textures/image_object.hpp"
#include "objects/textures/reference.hpp"
#include "usage/publisher.hpp"

#include <algorithm>
#include <string>

namespace cuprum::emulator {

namespace {

std::atomic<std::uint64_t> next_context_id{1};
std::atomic<std::size_t> active_contexts{0};

constexpr std::size_t DEFAULT_STACK_BYTES = 1024;
constexpr std::size_t DEFAULT_PRINTF_BYTES = 1 << 20;
constexpr std::size_t DEFAULT_HEAP_BYTES = 8 << 20;
constexpr std::size_t DEFAULT_PENDING_LAUNCHES = 2048;
constexpr std::size_t DEFAULT_L2_FETCH_BYTES = 64;
constexpr std::size_t MAX_L2_FETCH_BYTES = 128;
constexpr std::size_t MAX_STACK_BYTES = 512 << 10;
/// How long a thread may take to copy a pointer out of a `Life` that has ended.
constexpr auto LONGEST_COPY = std::chrono::seconds(10);

void check_limit(CUlimit limit) {
    require(limit >= 0 && limit < CU_LIMIT_MAX, "unknown limit");
    if (limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH || limit > CU_LIMIT_SHMEM_SIZE) {
        fail(CUDA_ERROR_UNSUPPORTED_LIMIT,
             "the device does not have limit " + std::to_string(limit));
    }
}

void erase_all(HandleKind kind, const Context& context) {
    for (const auto& object : HandleTable::instance().all_of(kind, &context)) {
        HandleTable::instance().erase(kind, object->handle_value());
    }
}

} // namespace

void check_context_flags(unsigned flags) {
    const unsigned scheduling = flags & CU_CTX_SCHED_MASK;
    if ((flags & ~unsigned{CU_CTX_FLAGS_MASK}) != 0 || (scheduling & (scheduling - 1)) != 0) {
        fail(CUDA_ERROR_INVALID_VALUE,
             "the flags of a context are " + std::to_string(flags) +
                 ": expected one way of waiting (CU_CTX_SCHED_...) and other flags below 256");
    }
}

Context::Context(Device& device, unsigned flags, bool is_primary)
    : device_(device), flags_(flags), is_primary_(is_primary), id_(next_id()) {}

void Context::activate() {
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex_);
    // The context outlives its legacy stream, so the stream must not own the context.
    lives_.push_back(
        {life() + 1, std::make_shared<ErrorState>(),
         std::make_shared<Stream>(std::shared_ptr<Context>(std::shared_ptr<void>(), this),
                                  Stream::Kind::Legacy, Stream::LEAST_PRIORITY),
         now});
    life_.store(&lives_.back(), std::memory_order_release);
    while (lives_.size() > 2 && now - lives_[1].began > LONGEST_COPY) {
        lives_.pop_front(); // it ended when the next one began
    }
    limits_[CU_LIMIT_STACK_SIZE] = DEFAULT_STACK_BYTES;
    limits_[CU_LIMIT_PRINTF_FIFO_SIZE] = DEFAULT_PRINTF_BYTES;
    limits_[CU_LIMIT_MALLOC_HEAP_SIZE] = DEFAULT_HEAP_BYTES;
    limits_[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = DEFAULT_PENDING_LAUNCHES;
    limits_[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = DEFAULT_L2_FETCH_BYTES;
    limits_[CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = 0;
    limits_[CU_LIMIT_SHMEM_SIZE] = static_cast<std::size_t>(
        device_.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
    active_contexts.fetch_add(1, std::memory_order_relaxed);
    usage::add(usage::device(device_.ordinal()).context_count, 1);
    is_active_.store(true, std::memory_order_release);
    RestoreThread::instance().start();
}

void Context::tear_down() {
    if (!is_active_.exchange(false, std::memory_order_acq_rel)) {
        return;
    }
    active_contexts.fetch_sub(1, std::memory_order_relaxed);
    usage::subtract(usage::device(device_.ordinal()).context_count, 1);
    Capture::abandon(*this, nullptr);
    drain();
    erase_all(HandleKind::Event, *this);
    erase_all(HandleKind::Stream, *this);
    destroy_references_of(*this);
    ImageObjects::instance().destroy_all_of(*this);
    destroy_arrays_of(*this);
    Module::unload_all(*this);
    Allocations::instance().free_all_of(*this);
    if (PeerAccess::instance().is_any()) {
        for (const auto& object : HandleTable::instance().all(HandleKind::Context)) {
            (void)static_cast<Context&>(*object).disable_peer(*this);
        }
    }
    const std::lock_guard lock(mutex_);
    streams_.clear();
    for (const auto& [id, device] : peers_) {
        PeerAccess::instance().disable(device_.ordinal(), device);
    }
    peers_.clear();
    heap_ = nullptr; // its memory has just been freed
}

void Context::check_usable() const {
    if (!is_active()) {
        fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context has been destroyed");
    }
    const std::shared_ptr<const ErrorState> state = errors();
    if (const CUresult code = state->get(); code != CUDA_SUCCESS) {
        const std::string report = state->report();
        fail(code, "an earlier kernel failed; the context must be destroyed or reset" +
                       (report.empty() ? report : ":\n" + report));
    }
}

void Context::drain() {
    if (const auto tail = legacy_stream()->pending_tail()) {
        tail->wait();
    }
    for (const auto& stream : streams()) {
        if (const auto tail = stream->pending_tail()) {
            tail->wait();
        }
    }
}

bool Context::is_drained() {
    if (!is_active()) {
        return true;
    }
    const auto all = streams();
    return legacy_stream()->pending_tail() == nullptr &&
           std::ranges::all_of(
               all, [](const auto& stream) { return stream->pending_tail() == nullptr; });
}

void Context::synchronize() {
    Capture::refuse_in(*this, nullptr);
    drain();
    device_.release_unused_pool_memory();
    check_usable();
}

std::shared_ptr<Stream> Context::create_stream(unsigned flags, int priority,
                                               std::shared_ptr<GreenContext> green) {
    require((flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) == 0, "unknown stream flags");
    const auto kind =
        (flags & CU_STREAM_NON_BLOCKING) != 0 ? Stream::Kind::NonBlocking : Stream::Kind::Blocking;
    auto stream = std::make_shared<Stream>(shared_from_this(), kind, priority, std::move(green));
    HandleTable::instance().insert(HandleKind::Stream, stream);
    keep(stream);
    return stream;
}

std::shared_ptr<Stream> Context::create_per_thread_stream() {
    auto stream = std::make_shared<Stream>(shared_from_this(), Stream::Kind::PerThread,
                                           Stream::LEAST_PRIORITY);
    keep(stream);
    return stream;
}

std::vector<std::shared_ptr<Stream>> Context::streams() {
    const std::lock_guard lock(mutex_);
    drop_retired_streams();
    return streams_;
}

void Context::keep(std::shared_ptr<Stream> stream) {
    // A program may create and destroy streams without ever calling streams().
    constexpr std::size_t smallest = 64;
    const std::lock_guard lock(mutex_);
    if (streams_.size() >= next_sweep_) {
        drop_retired_streams();
        next_sweep_ = std::max(smallest, streams_.size() * 2);
    }
    streams_.push_back(std::move(stream));
}

/// Forgets streams that were destroyed and have no work left. The mutex must be held.
void Context::drop_retired_streams() {
    std::erase_if(streams_, [](const auto& stream) {
        return stream->is_retired() && stream->pending_tail() == nullptr;
    });
}

std::size_t Context::limit(CUlimit limit) const {
    check_limit(limit);
    const std::lock_guard lock(mutex_);
    return limits_[limit];
}

void Context::set_limit(CUlimit limit, std::size_t value) {
    check_limit(limit);
    require(limit != CU_LIMIT_STACK_SIZE || value <= MAX_STACK_BYTES,
            "the stack of a thread is at most 512 KiB");
    require(limit != CU_LIMIT_MALLOC_HEAP_SIZE || value <= device_.total_bytes(),
            "the heap would be larger than device memory");
    require(limit != CU_LIMIT_PRINTF_FIFO_SIZE || value <= device_.total_bytes(),
            "the buffer of printf would be larger than device memory");
    if (limit == CU_LIMIT_MAX_L2_FETCH_GRANULARITY) {
        value = std::min(value, MAX_L2_FETCH_BYTES); // a hint, which may be clamped
    }
    const std::lock_guard lock(mutex_);
    require(limit != CU_LIMIT_MALLOC_HEAP_SIZE || heap_ == nullptr,
            "a kernel that allocates has been launched: the heap keeps its size");
    limits_[limit] = value;
}

std::shared_ptr<builtins::Heap> Context::heap() {
    const std::lock_guard lock(mutex_);
    if (heap_ == nullptr) {
        const std::size_t bytes = limits_[CU_LIMIT_MALLOC_HEAP_SIZE];
        const auto memory =
            Allocations::instance().allocate(MemoryKind::Heap, shared_from_this(), bytes, 0);
        heap_ = std::make_shared<builtins::Heap>(memory->base, bytes);
    }
    return heap_;
}

bool Context::enable_peer(const Context& peer) {
    const std::lock_guard lock(mutex_);
    if (!peers_.emplace(peer.id(), peer.device().ordinal()).second) {
        return false;
    }
    PeerAccess::instance().enable(device_.ordinal(), peer.device().ordinal());
    return true;
}

bool Context::disable_peer(const Context& peer) {
    const std::lock_guard lock(mutex_);
    if (peers_.erase(peer.id()) == 0) {
        return false;
    }
    PeerAccess::instance().disable(device_.ordinal(), peer.device().ordinal());
    return true;
}

std::uint64_t Context::next_id() noexcept {
    return next_context_id.fetch_add(1, std::memory_order_relaxed);
}

std::size_t Context::active_count() noexcept {
    return active_contexts.load(std::memory_order_relaxed);
}

} // namespace cuprum::emulator
