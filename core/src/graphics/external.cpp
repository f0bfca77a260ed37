// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graphics/external.hpp"

#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "support/locks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace cuprum {

detail::DescriptorCopy::DescriptorCopy(int descriptor)
    : copy_(descriptor < 0 ? -1 : ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)) {
    if (copy_ >= 0) {
        return;
    }
    if (descriptor >= 0 && errno != EBADF) {
        throw std::system_error(errno, std::generic_category(),
                                "descriptor " + std::to_string(descriptor) +
                                    " could not be duplicated for the driver");
    }
    throw std::invalid_argument("the file descriptor is " + std::to_string(descriptor) +
                                ", expected one that is open in this process");
}

detail::DescriptorCopy::~DescriptorCopy() {
    if (copy_ >= 0) {
        ::close(copy_);
    }
}

} // namespace cuprum

namespace cuprum::detail {

namespace {

bool is_legacy(const StreamState& queue) noexcept {
    return queue.is_default && queue.handle != CU_STREAM_PER_THREAD;
}

/// Returns whether a mark was recorded on a stream, so that recording it again covers its work.
bool is_mark_of(const UseMark& mark, const std::shared_ptr<StreamState>& queue) noexcept {
    if (queue->is_default) { // per-thread streams have one token, but differ from thread to thread
        return mark.is_on_legacy_stream && is_legacy(*queue);
    }
    return !mark.queue.owner_before(queue) && !queue.owner_before(mark.queue);
}

} // namespace

bool UseMark::is_done() const noexcept {
    if (event->is_lost()) {
        return true; // a reset of the device ended the work
    }
    switch (driver::table().cuEventQuery(event->handle)) {
    case CUDA_SUCCESS:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_INVALID_HANDLE:
        return true; // done, or ended with its context
    default:
        return false;
    }
}

UseMarks::Taken::~Taken() {
    const std::lock_guard lock(home_.mutex_);
    home_.marks_.splice(home_.marks_.end(), mark_);
}

CUresult UseMarks::Taken::record(CUstream stream, bool& is_recorded) const noexcept {
    const auto attempt = [&]() noexcept {
        return driver::table().cuEventRecord(mark_.front().event->handle, stream);
    };
    const CUresult first = attempt();
    is_recorded = first == CUDA_SUCCESS || attempt() == CUDA_SUCCESS;
    return first;
}

UseMarks::Taken UseMarks::take(const Stream& stream) {
    const std::shared_ptr<StreamState>& queue = Access::state(stream);
    const std::shared_ptr<ContextState> context = context_state_of(*queue);
    const auto is_usable = [&](const UseMark& mark) {
        return mark.event->context->handle == context->handle && !mark.event->is_lost();
    };
    std::list<UseMark> taken;
    {
        const QuietLock lock(mutex_);
        auto found = std::ranges::find_if(marks_, [&](const UseMark& mark) {
            return is_usable(mark) && is_mark_of(mark, queue);
        });
        if (found == marks_.end() && !marks_.empty()) {
            const driver::RelaxedCapture relaxed; // asking an event ends captures
            found = std::ranges::find_if(
                marks_, [&](const UseMark& mark) { return is_usable(mark) && mark.is_done(); });
        }
        if (found != marks_.end()) {
            taken.splice(taken.end(), marks_, found);
        }
    }
    if (taken.empty()) {
        taken.push_back({Access::state(make_event(context, CU_EVENT_DISABLE_TIMING)), {}});
    }
    taken.front().queue = queue;
    taken.front().is_on_legacy_stream = is_legacy(*queue);
    return {*this, std::move(taken)};
}

std::list<UseMark> UseMarks::take_all() noexcept {
    const std::lock_guard lock(mutex_);
    return std::exchange(marks_, {});
}

} // namespace cuprum::detail
