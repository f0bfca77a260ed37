// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/graphics/external_semaphore.hpp>

#include "driver/current.hpp"
#include "driver/handle.hpp"
#include "graphics/descriptor.hpp"
#include "graphics/release.hpp"
#include "stream/active_captures.hpp"
#include "stream/stream_state.hpp"
#include "support/text.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

CUexternalSemaphoreHandleType handle_type(ExternalSemaphoreType type);
void check_value(const detail::ExternalSemaphoreState& semaphore, bool has_value,
                 const char* function);
void enqueue_signal(const std::shared_ptr<detail::ExternalSemaphoreState>& semaphore,
                    const Stream& stream, std::uint64_t value);
void enqueue_wait(const std::shared_ptr<detail::ExternalSemaphoreState>& semaphore,
                  const Stream& stream, std::uint64_t value);

} // namespace

/// An imported semaphore. Destroying the state ends the import.
struct detail::ExternalSemaphoreState {
    CUexternalSemaphore handle = nullptr;
    std::shared_ptr<ContextState> context;
    unsigned made_at = 0; // the context's count of resets when it was imported
    ExternalSemaphoreType type = ExternalSemaphoreType::OpaqueFd;

    explicit ExternalSemaphoreState(std::shared_ptr<ContextState> home) noexcept
        : context(std::move(home)), made_at(context->reset_count.load(std::memory_order_relaxed)) {}

    ~ExternalSemaphoreState() {
        if (handle != nullptr) {
            release_in_context(context, made_at, "external semaphore", [semaphore = handle] {
                call(table().cuDestroyExternalSemaphore, semaphore);
            });
        }
    }

    ExternalSemaphoreState(const ExternalSemaphoreState&) = delete;
    ExternalSemaphoreState& operator=(const ExternalSemaphoreState&) = delete;

    [[nodiscard]] bool is_lost() const noexcept { return !is_intact(context, made_at); }
};

ExternalSemaphore ExternalSemaphore::from_fd(const Context& context, int descriptor,
                                             ExternalSemaphoreType type) {
    (void)detail::open(context);
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC description{};
    description.type = handle_type(type);
    auto state = std::make_shared<detail::ExternalSemaphoreState>(detail::Access::state(context));
    state->type = type;
    detail::DescriptorCopy copy(descriptor);
    description.handle.fd = copy.get();
    const driver::Current current(state->context->handle);
    CUexternalSemaphore handle = nullptr;
    call(table().cuImportExternalSemaphore, &handle, &description);
    copy.release(); // the driver owns it now
    state->handle = handle;
    return ExternalSemaphore(std::move(state));
}

CUexternalSemaphore ExternalSemaphore::handle() const {
    return detail::open(state_, "ExternalSemaphore").handle;
}

Context ExternalSemaphore::context() const {
    return detail::Access::make<Context>(detail::open(state_, "ExternalSemaphore").context);
}

ExternalSemaphoreType ExternalSemaphore::type() const {
    return detail::open(state_, "ExternalSemaphore").type;
}

void ExternalSemaphore::signal(const Stream& stream) const {
    check_value(detail::open(state_, "ExternalSemaphore"), false, "signal");
    enqueue_signal(state_, stream, 0);
}

void ExternalSemaphore::signal(const Stream& stream, std::uint64_t value) const {
    check_value(detail::open(state_, "ExternalSemaphore"), true, "signal");
    enqueue_signal(state_, stream, value);
}

void ExternalSemaphore::wait(const Stream& stream) const {
    check_value(detail::open(state_, "ExternalSemaphore"), false, "wait");
    enqueue_wait(state_, stream, 0);
}

void ExternalSemaphore::wait(const Stream& stream, std::uint64_t value) const {
    check_value(detail::open(state_, "ExternalSemaphore"), true, "wait");
    enqueue_wait(state_, stream, value);
}

bool operator==(const ExternalSemaphore& left, const ExternalSemaphore& right) noexcept {
    const CUexternalSemaphore first = left.is_closed() ? nullptr : left.state_->handle;
    const CUexternalSemaphore second = right.is_closed() ? nullptr : right.state_->handle;
    return first == second;
}

std::string to_string(const ExternalSemaphore& semaphore) {
    if (semaphore.is_closed()) {
        return "<ExternalSemaphore closed>";
    }
    const auto& state = detail::Access::state(semaphore);
    return "<ExternalSemaphore handle=" + detail::hexadecimal(state->handle) +
           (state->type == ExternalSemaphoreType::TimelineFd ? " timeline_fd>" : " opaque_fd>");
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

CUexternalSemaphoreHandleType handle_type(ExternalSemaphoreType type) {
    switch (type) {
    case ExternalSemaphoreType::OpaqueFd:
        return CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
    case ExternalSemaphoreType::TimelineFd:
        return CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    }
    throw std::invalid_argument("type is " + std::to_string(static_cast<int>(type)) +
                                ", expected a member of ExternalSemaphoreType");
}

void check_value(const detail::ExternalSemaphoreState& semaphore, bool has_value,
                 const char* function) {
    const bool is_timeline = semaphore.type == ExternalSemaphoreType::TimelineFd;
    if (is_timeline == has_value) {
        return;
    }
    throw std::invalid_argument(
        is_timeline ? "value is missing: the ExternalSemaphore is a timeline; pass a value to " +
                          std::string(function) + "()"
                    : "value is given, but the ExternalSemaphore is binary; call " +
                          std::string(function) + "() without a value");
}

void enqueue_signal(const std::shared_ptr<detail::ExternalSemaphoreState>& semaphore,
                    const Stream& stream, std::uint64_t value) {
    const detail::StreamState& queue = detail::open(stream);
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS item{};
    item.params.fence.value = value;
    const driver::Current current(detail::context_of(queue));
    call(table().cuSignalExternalSemaphoresAsync, &semaphore->handle, &item, 1U, queue.handle);
    detail::retain_if_captured(queue, semaphore);
}

void enqueue_wait(const std::shared_ptr<detail::ExternalSemaphoreState>& semaphore,
                  const Stream& stream, std::uint64_t value) {
    const detail::StreamState& queue = detail::open(stream);
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS item{};
    item.params.fence.value = value;
    const driver::Current current(detail::context_of(queue));
    call(table().cuWaitExternalSemaphoresAsync, &semaphore->handle, &item, 1U, queue.handle);
    detail::retain_if_captured(queue, semaphore);
}

} // namespace

} // namespace cuprum

std::size_t std::hash<cuprum::ExternalSemaphore>::operator()(
    const cuprum::ExternalSemaphore& semaphore) const noexcept {
    const auto& state = cuprum::detail::Access::state(semaphore);
    return std::hash<const void*>()(state == nullptr ? nullptr : state->handle);
}
