// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/buffer.hpp>

#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "driver/deferred_release.hpp"
#include "driver/handle.hpp"
#include "memory/allocation.hpp"
#include "memory/buffer_state.hpp"
#include "memory/copies.hpp"
#include "memory/pool_state.hpp"
#include "stream/active_captures.hpp"
#include "stream/event_state.hpp"
#include "stream/stream_state.hpp"
#include "support/locks.hpp"
#include "support/text.hpp"

#include <cuprum/detail/order.hpp>
#include <cuprum/error.hpp>
#include <cuprum/graph_memory_resource.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

/// Copies once more, or for the first time on a default stream, in the stream's context; `status`
/// is what the first try gave.
[[gnu::noinline]] void copy_in_context(CUdeviceptr destination, CUdeviceptr source,
                                       std::size_t bytes, const detail::StreamState& queue,
                                       CUresult status) {
    const auto& entry = table().cuMemcpyAsync;
    if (driver::is_about_context(status) || status == CUDA_ERROR_INVALID_VALUE) {
        const driver::Current current(detail::context_of(queue));
        // NOTE: with no context current, driver 580 refuses copies of memory mapped in pieces.
        if (queue.is_default || current.is_pushed()) {
            status = entry(destination, source, bytes, queue.handle);
        }
        if (status == CUDA_SUCCESS ||
            (status == CUDA_ERROR_INVALID_VALUE &&
             detail::copy_between_devices({.address = destination}, {.address = source},
                                          {.width = bytes}, queue.handle))) {
            return;
        }
    }
    driver::raise(status, entry.name);
}

void copy(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes, const Stream& stream) {
    const detail::StreamState& queue = detail::open(stream);
    if (bytes == 0) {
        return;
    }
    // The driver goes by the stream, whatever is current; what a default stream is depends on it.
    CUresult status = CUDA_ERROR_INVALID_CONTEXT;
    if (!queue.is_default) [[likely]] {
        status = table().cuMemcpyAsync(destination, source, bytes, queue.handle);
    }
    if (status != CUDA_SUCCESS) [[unlikely]] {
        copy_in_context(destination, source, bytes, queue, status);
    }
}

/// Closes a share on a stream that the memory is not freed on. `share` itself is given up by the
/// caller.
[[gnu::noinline]] void close_on_other_stream(const Buffer& share, detail::BufferState& whole,
                                             const Stream& stream) {
    // NOTE: nobody else can make or give up a share of what this one holds alone.
    const auto& own = static_cast<const detail::BufferState&>(*detail::Access::state(share));
    const bool is_last = detail::Access::state(share).use_count() == 1 &&
                         (!own.is_slice() || own.extras.peek()->whole.use_count() == 1);
    if (is_last) {
        whole.redirect_free(stream);
    } else if (!detail::runs_host_function()) {
        whole.free_after_work_on(stream);
    } else { // the driver cannot record an event here: close the share later
        detail::defer_release(
            std::shared_ptr<void>(nullptr, [later = share, stream](void*) mutable noexcept {
                try {
                    later.close(stream);
                } catch (...) {
                    driver::report_release_failure("share of a buffer");
                }
            }));
    }
}

/// Lets the graph that a stream is captured into keep a buffer alive.
void retain_if_captured(const Buffer& buffer, const Stream& stream) {
    if (detail::has_active_captures()) [[unlikely]] {
        detail::retain_buffers(stream, std::array{&buffer});
    }
}

template <typename Value, typename Entry>
void fill_with(const Buffer& buffer, Value value, const Stream& stream, const Entry& entry) {
    const detail::BufferState& memory = detail::open(buffer);
    const std::size_t bytes = memory.size;
    const detail::StreamState& queue = detail::open(stream);
    if (bytes % sizeof(Value) != 0) {
        throw std::invalid_argument("value has " + std::to_string(sizeof(Value)) +
                                    " bytes, expected a width that divides the buffer's size of " +
                                    std::to_string(bytes) + " bytes");
    }
    if (bytes == 0) {
        return;
    }
    if (memory.pointer % sizeof(Value) != 0) {
        throw std::invalid_argument(
            "the buffer begins at address " + std::to_string(memory.pointer) +
            ", expected a multiple of the value's " + std::to_string(sizeof(Value)) + " bytes");
    }
    driver::call_for_stream(
        entry, [&] { return detail::context_of(queue); },
        [&](CUresult status) {
            detail::raise_fill_failure(status, entry.name, memory.pointer, queue);
        },
        memory.pointer, value, bytes / sizeof(Value), queue.handle);
    retain_if_captured(buffer, stream);
}

/// Refuses memory that goes beyond the last address.
void check_range(CUdeviceptr pointer, std::size_t bytes) {
    if (bytes > std::numeric_limits<CUdeviceptr>::max() - pointer) [[unlikely]] {
        throw std::invalid_argument("size is " + std::to_string(bytes) + " and ptr " +
                                    std::to_string(pointer) +
                                    ": the range exceeds the address space");
    }
}

[[noreturn, gnu::cold]] void reject_sizes(std::size_t destination, std::size_t source) {
    throw std::invalid_argument("buffer sizes mismatch: the source has " + std::to_string(source) +
                                " bytes and the destination " + std::to_string(destination) +
                                ", expected the same size");
}

void check_sizes(std::size_t destination, std::size_t source) {
    if (destination != source) [[unlikely]] {
        reject_sizes(destination, source);
    }
}

[[noreturn, gnu::cold]] void reject_overlap(std::size_t bytes, CUdeviceptr distance) {
    throw std::invalid_argument("source and destination overlap: " + std::to_string(bytes) +
                                " bytes each, " + std::to_string(distance) +
                                " bytes apart; copy through another buffer");
}

/// Refuses ranges that share some of their bytes; copying memory to itself changes nothing.
void check_overlap(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes) {
    const CUdeviceptr distance = destination > source ? destination - source : source - destination;
    if (distance != 0 && distance < bytes) [[unlikely]] {
        reject_overlap(bytes, distance);
    }
}

detail::PointerInfo ask_for_pointer(CUdeviceptr pointer) {
    detail::PointerInfo info;
    if (pointer == 0) {
        return info;
    }
    driver::initialise();
    int memory_type = 0; // stays 0 for host memory that CUDA knows nothing of
    int ordinal = -1;
    unsigned is_managed = 0;
    CUdeviceptr device_pointer = 0;
    void* host_pointer = nullptr;
    std::array attributes{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                          CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                          CU_POINTER_ATTRIBUTE_HOST_POINTER};
    std::array<void*, attributes.size()> values{&memory_type, &ordinal, &is_managed,
                                                &device_pointer, &host_pointer};
    call(table().cuPointerGetAttributes, static_cast<unsigned>(attributes.size()),
         attributes.data(), values.data(), pointer);
    const bool is_device = memory_type == CU_MEMORYTYPE_DEVICE;
    info.device_id = memory_type != 0 ? ordinal : -1;
    info.is_device = is_device;
    info.is_device_accessible = is_device || is_managed != 0 || device_pointer != 0;
    info.is_host_accessible = !is_device || is_managed != 0 || host_pointer != nullptr;
    info.is_managed = is_managed != 0;
    return info;
}

CUdeviceptr address_of(const void* host) {
    return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(host));
}

/// Returns whether the work before a closing point is done, as far as that is known.
bool is_reached(const detail::ClosingPoint& point) noexcept {
    const detail::EventState& event = *detail::Access::state(point.reached);
    if (event.is_lost()) {
        return true;
    }
    const driver::RelaxedCapture relaxed;
    return table().cuEventQuery(event.handle) == CUDA_SUCCESS;
}

/// Returns a number for the calling thread, not 0, that no other thread ever has. The system reuses
/// a std::thread::id.
std::uint64_t this_thread() noexcept {
    static constinit std::atomic<std::uint64_t> last{0};
    thread_local constinit std::uint64_t own = 0;
    if (own == 0) {
        own = last.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    return own;
}

} // namespace

Buffer Buffer::from_handle(CUdeviceptr pointer, std::size_t bytes, std::shared_ptr<void> owner) {
    check_range(pointer, bytes);
    auto state = std::make_shared<detail::BufferState>();
    state->pointer = pointer;
    state->size = bytes;
    if (owner != nullptr) {
        state->extras.get().owner = std::move(owner);
    }
    return Buffer(std::move(state));
}

Buffer Buffer::from_handle(CUdeviceptr pointer, std::size_t bytes,
                           std::shared_ptr<MemoryResource> resource, const Stream& stream) {
    if (resource == nullptr) {
        throw std::invalid_argument("resource is null, expected the one that allocated the memory; "
                                    "use the other from_handle for memory that is not to be freed");
    }
    check_range(pointer, bytes);
    auto state = std::make_shared<detail::BufferState>();
    state->make_on(stream);
    state->size = bytes;
    state->resource = std::move(resource);
    state->pointer = pointer; // last: from here on the state frees it
    return Buffer(std::move(state));
}

Buffer Buffer::whole() const {
    const detail::BufferState& part = detail::open(*this);
    return part.is_slice() ? Buffer(part.extras.peek()->whole) : *this;
}

Buffer Buffer::slice(std::size_t offset, std::size_t bytes) const {
    const detail::BufferState& own = detail::open(*this);
    if (offset > own.size || bytes > own.size - offset) {
        throw std::invalid_argument("the slice takes " + std::to_string(bytes) +
                                    " bytes from offset " + std::to_string(offset) +
                                    ", but the buffer has " + std::to_string(own.size));
    }
    auto state = std::make_shared<detail::BufferState>();
    state->pointer = own.pointer + offset;
    state->size = bytes;
    state->resource = own.resource;
    detail::BufferExtras& part = state->extras.get();
    if (const detail::BufferExtras* more = own.extras.peek()) {
        part.owner = more->owner;
        part.whole = more->whole;
    }
    if (part.whole == nullptr) {
        part.whole = std::static_pointer_cast<detail::BufferState>(state_);
    }
    return Buffer(std::move(state));
}

void Buffer::check_span(std::size_t bytes, std::size_t alignment) const {
    if (!is_host_accessible()) {
        throw std::invalid_argument(
            handle() == 0 ? std::string("the buffer's address is null: there is no memory to see")
                          : "the buffer is memory of device " + std::to_string(device_id()) +
                                ", which the host cannot reach; copy it with copy_to_host");
    }
    if (handle() % alignment != 0 || size() % bytes != 0) {
        throw std::invalid_argument("the buffer has " + std::to_string(size()) +
                                    " bytes from address " + std::to_string(handle()) +
                                    ", expected multiples of " + std::to_string(bytes) + " and " +
                                    std::to_string(alignment));
    }
}

int Buffer::device_id() const {
    detail::BufferState& state = detail::open(*this);
    return state.resource != nullptr ? state.resource->device_id()
                                     : detail::pointer_info(state).device_id;
}

bool Buffer::is_device_accessible() const {
    detail::BufferState& state = detail::open(*this);
    return state.resource != nullptr ? state.resource->is_device_accessible()
                                     : detail::pointer_info(state).is_device_accessible;
}

bool Buffer::is_host_accessible() const {
    detail::BufferState& state = detail::open(*this);
    return state.resource != nullptr ? state.resource->is_host_accessible()
                                     : detail::pointer_info(state).is_host_accessible;
}

bool Buffer::is_managed() const {
    return detail::is_managed(detail::open(*this));
}

std::shared_ptr<MemoryResource> Buffer::memory_resource() const {
    return detail::open(*this).resource;
}

[[gnu::hot]] void Buffer::copy_to(const Buffer& destination, const Stream& stream) const {
    const detail::BufferState& to = detail::open(destination);
    const detail::BufferState& from = detail::open(*this);
    check_sizes(to.size, from.size);
    check_overlap(to.pointer, from.pointer, from.size);
    copy(to.pointer, from.pointer, from.size, stream);
    if (detail::has_active_captures()) [[unlikely]] {
        detail::retain_buffers(stream, std::array{&destination, this});
    }
}

void Buffer::copy_from(const Buffer& source, const Stream& stream) const {
    source.copy_to(*this, stream);
}

void Buffer::copy_from_host_bytes(const void* source, std::size_t bytes,
                                  const Stream& stream) const {
    check_sizes(size(), bytes);
    check_overlap(handle(), address_of(source), bytes);
    copy(handle(), address_of(source), bytes, stream);
    retain_if_captured(*this, stream);
}

void Buffer::copy_from_list(const void* source, std::size_t bytes, const Stream& stream) const {
    if (detail::is_capturing(stream)) {
        throw std::logic_error(
            "the stream is capturing, and a list of values is gone when the graph "
            "runs; copy from memory that lives as long as the graph");
    }
    copy_from_host_bytes(source, bytes, stream);
}

void Buffer::copy_to_host_bytes(void* destination, std::size_t bytes, const Stream& stream) const {
    check_sizes(bytes, size());
    check_overlap(address_of(destination), handle(), bytes);
    copy(address_of(destination), handle(), bytes, stream);
    retain_if_captured(*this, stream);
}

[[gnu::hot]] void Buffer::fill(std::uint8_t value, const Stream& stream) const {
    fill_with(*this, value, stream, table().cuMemsetD8Async);
}

void Buffer::fill(std::uint16_t value, const Stream& stream) const {
    fill_with(*this, value, stream, table().cuMemsetD16Async);
}

void Buffer::fill(std::uint32_t value, const Stream& stream) const {
    fill_with(*this, value, stream, table().cuMemsetD32Async);
}

void Buffer::set_deallocation_stream(const Stream& stream) const {
    detail::BufferState& whole = detail::open(*this).whole_state();
    if (!whole.is_freed_on(stream)) {
        whole.redirect_free(stream);
    }
}

std::optional<Stream> Buffer::deallocation_stream() const {
    const Stream stream = detail::open(*this).whole_state().free_order().stream;
    return stream.is_closed() ? std::nullopt : std::optional(stream);
}

[[gnu::hot]] void Buffer::close(const Stream& stream) {
    if (state_ == nullptr) {
        return;
    }
    detail::BufferState& whole = static_cast<detail::BufferState&>(*state_).whole_state();
    if (!whole.is_freed_on(stream)) [[unlikely]] {
        close_on_other_stream(*this, whole, stream);
    }
    state_.reset();
}

bool operator==(const Buffer& left, const Buffer& right) noexcept {
    if (left.is_closed() || right.is_closed()) {
        return left.is_closed() == right.is_closed();
    }
    return left.state_->pointer == right.state_->pointer && left.state_->size == right.state_->size;
}

std::string to_string(const Buffer& buffer) {
    return buffer.is_closed() ? "<Buffer closed>"
                              : "<Buffer ptr=" + detail::hexadecimal(buffer.handle()) +
                                    " size=" + std::to_string(buffer.size()) + ">";
}

static_assert(sizeof(detail::BufferState) <= 64, "the state of a plain buffer fits a cache line");

/// Memory on the list of deferred releases.
struct detail::BufferState::Deferred final : DeferredRelease {
    BufferState state;
};

bool detail::FreeOrder::is_usable() const noexcept {
    // The per-thread default stream of another thread has no name here.
    const bool is_of_this_thread = thread == 0 || thread == this_thread();
    return is_of_this_thread && (stream.is_closed() || !Access::state(stream)->is_lost());
}

void detail::BufferState::make_on(const Stream& first) {
    redirect_free(first);
    BufferExtras& more = extras.get();
    more.home.belong_to(more.context);
}

void detail::BufferState::make_in(std::shared_ptr<ContextState> place) {
    BufferExtras& more = extras.get();
    more.context = std::move(place);
    more.home.belong_to(more.context);
}

detail::FreeOrder detail::BufferState::free_order() const {
    const BufferExtras* const more = extras.peek();
    const std::lock_guard held(lock);
    FreeOrder order;
    order.stream = stream;
    if (is_plain) {
        order.context = Access::state(stream)->context;
    } else if (more != nullptr) {
        order.context = more->context;
        order.thread = more->thread;
    }
    return order;
}

bool detail::BufferState::is_freed_on(const Stream& next) const {
    const StreamState& queue = unclosed(Access::state(next), "Stream");
    const std::lock_guard held(lock);
    return &queue == Access::state(stream).get() && !queue.is_default;
}

void detail::BufferState::redirect_free(const Stream& next) {
    // All that can fail comes first.
    const StreamState& queue = unclosed(Access::state(next), "Stream");
    auto place = context_state_of(queue);
    BufferExtras& more = extras.get();
    const std::uint64_t thread = queue.handle == CU_STREAM_PER_THREAD ? this_thread() : 0;
    Stream replaced = next; // the lock is not held while the old stream and context are released
    const std::lock_guard held(lock);
    std::swap(stream, replaced);
    std::swap(more.context, place);
    more.thread = thread;
    is_plain = false;
}

void detail::BufferState::free_after_work_on(const Stream& next) {
    const StreamState& queue = unclosed(Access::state(next), "Stream");
    // Work that is being captured does not run now: no event can stand for it.
    if (resource == nullptr || pointer == 0 || queue.is_lost() || is_capturing(queue)) {
        return;
    }
    const auto place = context_state_of(queue);
    const driver::Current current(place->handle);
    BufferExtras& more = extras.get();
    // NOTE: destroyed without the mutex. The end of a stream runs deferred releases, which may
    // close other shares of this buffer.
    std::vector<ClosingPoint> reached;
    {
        const QuietLock closing(more.closing_mutex);
        auto& points = more.closing_points;
        const auto known = std::ranges::find_if(points, [&](const ClosingPoint& point) {
            return Access::state(point.stream) == Access::state(next) && !queue.is_default;
        });
        if (known != points.end()) { // a later point of a stream covers the earlier one
            call(table().cuEventRecord, Access::state(known->reached)->handle, queue.handle);
            return;
        }
        const auto done = std::ranges::partition(
            points, [](const ClosingPoint& point) { return !is_reached(point); });
        reached.reserve(done.size());
        std::ranges::move(done, std::back_inserter(reached));
        points.erase(done.begin(), done.end());
        ClosingPoint point{next, make_event(place, CU_EVENT_DISABLE_TIMING)};
        call(table().cuEventRecord, Access::state(point.reached)->handle, queue.handle);
        points.push_back(std::move(point));
    }
    const std::lock_guard held(lock);
    if (is_plain) {
        more.context = Access::state(stream)->context;
        is_plain = false;
    }
}

bool detail::BufferState::is_lost() const noexcept {
    const BufferExtras* const more = extras.peek();
    if (more == nullptr || more->whole != nullptr) {
        return more != nullptr && more->whole->is_lost();
    }
    return resource != nullptr && more->home.is_lost() && resource->is_context_bound();
}

[[gnu::hot]] detail::BufferState::~BufferState() {
    if (resource == nullptr || pointer == 0 || driver::is_leaving()) [[unlikely]] {
        return;
    }
    if (runs_host_function() && try_defer_free()) [[unlikely]] {
        return;
    }
    if (!is_plain || !try_free_on_stream()) [[unlikely]] {
        free_in_context();
    }
}

bool detail::BufferState::is_blocked_by_capture() const noexcept {
    if (stream.is_closed() || !can_be_capturing(*Access::state(stream))) {
        return false;
    }
    const driver::CaptureQuery answer = driver::query_capture(Access::state(stream)->handle);
    // The free itself meets errors about the context and handles them.
    if (answer.status != CUDA_SUCCESS && !answer.is_capturing() &&
        !driver::is_about_context(answer.status)) {
        driver::report_release_failure("buffer without a check for stream captures",
                                       table().cuStreamIsCapturing.name, answer.status);
    }
    return answer.is_capturing() &&
           dynamic_cast<const GraphMemoryResource*>(resource.get()) == nullptr;
}

bool detail::BufferState::try_defer_free() noexcept {
    if (is_slice() || !resource->may_free_later()) {
        return false;
    }
    std::unique_ptr<Deferred> later(new (std::nothrow) Deferred);
    if (later == nullptr) {
        return false;
    }
    BufferState& other = later->state;
    other.size = size;
    other.resource = std::move(resource);
    other.stream = std::move(stream);
    other.extras.take(extras);
    other.is_plain = is_plain;
    other.pointer = std::exchange(pointer, 0);
    push_deferred(std::move(later));
    return true;
}

bool detail::BufferState::try_free_on_stream() noexcept {
    const StreamState& queue = *Access::state(stream);
    try {
        if (queue.is_lost()) {
            return false;
        }
        if (can_be_capturing(queue) && is_blocked_by_capture() && try_defer_free()) [[unlikely]] {
            return true;
        }
        const CUresult status = free_pool_memory(pointer, queue.handle);
        if (status == CUDA_SUCCESS || status == CUDA_ERROR_DEINITIALIZED) {
            return true;
        }
        if (!driver::is_about_context(status)) {
            raise_free_failure(status, table().cuMemFreeAsync.name, pointer);
        }
        return false;
    } catch (...) {
        driver::report_release_failure("buffer");
        return true;
    }
}

void detail::BufferState::free_in_context() noexcept {
    if (is_slice()) {
        return;
    }
    if (is_lost()) {
        return; // the reset freed it, and the address may belong to another buffer now
    }
    std::optional<driver::Current> current;
    try {
        const FreeOrder order = free_order();
        if (!order.is_usable()) {
            // The legacy default stream waits for everything that the other stream held.
            stream = Stream::legacy_default();
        }
        current.emplace(order.context->handle);
    } catch (...) {
        driver::report_release_failure("buffer in its context");
        if (!stream.is_closed() && Access::state(stream)->is_default) {
            return; // another context has another default stream: a leak is better than a race
        }
    }
    if (is_blocked_by_capture() && try_defer_free()) {
        return;
    }
    wait_for_closing_points();
    try {
        resource->deallocate_bytes(pointer, size, stream);
    } catch (const CUDAError& error) {
        if (error.code() != CUDA_ERROR_DEINITIALIZED) {
            driver::report_release_failure("buffer");
        }
    } catch (...) {
        driver::report_release_failure("buffer");
    }
}

void detail::BufferState::wait_for_closing_points() noexcept {
    const BufferExtras* const more = extras.peek();
    if (more == nullptr) {
        return;
    }
    for (const ClosingPoint& point : more->closing_points) {
        const EventState& reached = *Access::state(point.reached);
        if (reached.is_lost()) {
            continue; // the reset ended that work
        }
        if (!stream.is_closed()) {
            driver::release_now("buffer after the work of another stream",
                                table().cuStreamWaitEvent, Access::state(stream)->handle,
                                reached.handle, unsigned{CU_EVENT_WAIT_DEFAULT});
        } else {
            const driver::RelaxedCapture relaxed;
            driver::release_now("buffer after the work of another stream",
                                table().cuEventSynchronize, reached.handle);
        }
    }
}

const detail::PointerInfo& detail::pointer_info(BufferState& buffer) {
    return buffer.extras.get().pointer_info.get(
        [&] { return std::make_unique<const PointerInfo>(ask_for_pointer(buffer.pointer)); });
}

bool detail::is_managed(BufferState& buffer) {
    // NOTE: managed memory of a pool does not have the driver's attribute.
    return (buffer.resource != nullptr && buffer.resource->is_managed()) ||
           pointer_info(buffer).is_managed;
}

namespace detail {

bool order_after(CUstream consumer, const Buffer& memory) {
    const FreeOrder order = open(memory).whole_state().free_order();
    if (order.stream.is_closed()) {
        return false;
    }
    const StreamState& producer = *Access::state(order.stream);
    if (producer.is_lost()) {
        return true; // the reset ended its work
    }
    if (!producer.is_default) {
        order_streams(consumer, producer.handle);
        return true;
    }
    const driver::Current current(order.context->handle);
    order_streams(consumer, order.is_usable() ? producer.handle : CU_STREAM_LEGACY);
    return true;
}

void retain_buffers(const Stream& stream, std::span<const Buffer* const> buffers) {
    const auto capture = find_capture(open(stream));
    if (capture == nullptr) {
        return;
    }
    for (const Buffer* const buffer : buffers) {
        if (buffer == nullptr || buffer->is_closed()) {
            continue;
        }
        const MemoryResource* const resource =
            static_cast<BufferState&>(*Access::state(*buffer)).whole_state().resource.get();
        // NOTE: graph memory is freed by a node of its graph, when its last share goes. Memory that
        // must not be freed later is kept by the binding that made it.
        if (resource == nullptr ||
            (resource->may_free_later() &&
             dynamic_cast<const GraphMemoryResource*>(resource) == nullptr)) {
            capture->retain(Access::state(*buffer));
        }
    }
}

} // namespace detail

} // namespace cuprum

std::size_t std::hash<cuprum::Buffer>::operator()(const cuprum::Buffer& buffer) const noexcept {
    const auto& state = cuprum::detail::Access::state(buffer);
    return state == nullptr ? 0
                            : std::hash<CUdeviceptr>()(state->pointer) ^
                                  std::hash<std::size_t>()(state->size) << 1U;
}
