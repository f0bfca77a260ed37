// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/graphics/external_semaphore.hpp>

#include "driver/current.hpp"
#include "driver/deferred_release.hpp"
#include "driver/explanations.hpp"
#include "driver/handle.hpp"
#include "graphics/external.hpp"
#include "stream/active_captures.hpp"
#include "stream/stream_state.hpp"
#include "support/text.hpp"
#include "support/warn.hpp"

#include <atomic>
#include <list>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

/// A semaphore that nothing uses any more. Destroying the object ends the import.
struct EndedSemaphore final
    : detail::DeferredRelease,
      detail::Owned<CUexternalSemaphore, &driver::Table::cuDestroyExternalSemaphore,
                    "external semaphore", detail::ReleaseIn::ItsContext> {
    EndedSemaphore(CUexternalSemaphore semaphore, const detail::OfContext& home) noexcept
        : Owned(home.context) {
        handle = semaphore;
        made_at = home.made_at;
        is_owned = true;
    }
};

/// A semaphore that enqueued signals and waits still use.
struct AwaitedSemaphore final : detail::AwaitedRelease {
    AwaitedSemaphore() = default;

    ~AwaitedSemaphore() override {
        if (ended != nullptr) {
            detail::push_payload(std::move(ended));
        }
    }

    [[nodiscard]] bool is_due() noexcept override {
        marks.remove_if([](const detail::UseMark& mark) { return mark.is_done(); });
        return marks.empty();
    }

    std::unique_ptr<EndedSemaphore> ended;
    std::list<detail::UseMark> marks;
};

} // namespace

/// An imported semaphore. Destroying the state ends the import, once the signals and waits that
/// were enqueued are done.
struct detail::ExternalSemaphoreState : OfContext {
    CUexternalSemaphore handle = nullptr;
    ExternalSemaphoreType type = ExternalSemaphoreType::OpaqueFd;
    UseMarks marks;                    // behind signals and waits
    std::atomic<bool> is_kept = false; // for good: the end of its work is not marked

    using OfContext::OfContext;
    ~ExternalSemaphoreState();
    ExternalSemaphoreState(const ExternalSemaphoreState&) = delete;
    ExternalSemaphoreState& operator=(const ExternalSemaphoreState&) = delete;
};

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

/// Calls a function that enqueues a signal or a wait, and marks the end of that work.
template <typename Enqueue>
void enqueue_and_mark(const std::shared_ptr<detail::ExternalSemaphoreState>& semaphore,
                      const Stream& stream, const Enqueue& enqueue) {
    const detail::StreamState& queue = detail::open(stream);
    const driver::Current current(detail::context_of(queue));
    if (detail::is_capturing(queue)) {
        enqueue(queue.handle);
        detail::retain_if_captured(queue, semaphore);
        return;
    }
    bool is_recorded = false;
    CUresult status = CUDA_SUCCESS;
    {
        const auto mark = semaphore->marks.take(stream);
        enqueue(queue.handle);
        status = mark.record(queue.handle, is_recorded);
        if (!is_recorded) {
            semaphore->is_kept.store(true, std::memory_order_relaxed);
        }
    }
    if (status != CUDA_SUCCESS) [[unlikely]] {
        detail::warn(WarningKind::Release,
                     std::string("the end of work with an external semaphore could not be marked") +
                         (is_recorded ? " at once" : ", so it stays imported for good") + ": " +
                         table().cuEventRecord.name + " failed: " + driver::name_of(status));
    }
}

void enqueue_signal(const std::shared_ptr<detail::ExternalSemaphoreState>& semaphore,
                    const Stream& stream, std::uint64_t value) {
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS item{};
    item.params.fence.value = value;
    enqueue_and_mark(semaphore, stream, [&](CUstream queue) {
        call(table().cuSignalExternalSemaphoresAsync, &semaphore->handle, &item, 1U, queue);
    });
}

void enqueue_wait(const std::shared_ptr<detail::ExternalSemaphoreState>& semaphore,
                  const Stream& stream, std::uint64_t value) {
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS item{};
    item.params.fence.value = value;
    enqueue_and_mark(semaphore, stream, [&](CUstream queue) {
        call(table().cuWaitExternalSemaphoresAsync, &semaphore->handle, &item, 1U, queue);
    });
}

} // namespace

ExternalSemaphore ExternalSemaphore::from_fd(const Context& context, int descriptor,
                                             ExternalSemaphoreType type) {
    (void)detail::open(context);
    detail::release_payloads(); // a program may do nothing but import and drop semaphores
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
    return detail::handle_or_null(left) == detail::handle_or_null(right);
}

std::string to_string(const ExternalSemaphore& semaphore) {
    if (semaphore.is_closed()) {
        return "<ExternalSemaphore closed>";
    }
    const auto& state = detail::Access::state(semaphore);
    return "<ExternalSemaphore handle=" + detail::hexadecimal(state->handle) +
           (state->type == ExternalSemaphoreType::TimelineFd ? " timeline_fd>" : " opaque_fd>");
}

detail::ExternalSemaphoreState::~ExternalSemaphoreState() {
    if (handle == nullptr || is_kept.load(std::memory_order_relaxed) || driver::is_leaving()) {
        return;
    }
    try {
        auto awaited = std::make_unique<AwaitedSemaphore>();
        awaited->marks = marks.take_all();
        awaited->ended = std::make_unique<EndedSemaphore>(handle, *this);
        if (!awaited->marks.empty()) {
            bool is_due = false;
            if (!runs_host_function()) {
                const driver::RelaxedCapture relaxed; // asking an event ends captures
                is_due = awaited->is_due();
            }
            if (!is_due) {
                push_awaited(std::move(awaited));
                return;
            }
        }
        awaited->ended.reset();
    } catch (...) { // without memory it is kept for good: a signal or a wait may use it
        driver::report_release_failure("external semaphore");
    }
}

} // namespace cuprum

std::size_t std::hash<cuprum::ExternalSemaphore>::operator()(
    const cuprum::ExternalSemaphore& semaphore) const noexcept {
    return std::hash<const void*>()(cuprum::detail::handle_or_null(semaphore));
}
