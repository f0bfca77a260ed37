// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A thread that waits for a grid of one block may run it itself.
//
// Passing a small grid to a worker and hearing of its end moves about a dozen cache lines between
// two cores. With many cores this takes longer than the rest of the launch. So the launch of a grid
// of one block does not call a worker at once:
//
//    host thread   launch ──> noted ──> wait: takes the grid, runs it, returns
//    a worker                   └─ looks about once a microsecond: takes it if nobody waits for it
//
// The launch leaves a note to a worker that watches (idle_workers.hpp). If none watches, or there
// is other work, it calls one as usual. Everything that adds work or looks for it first makes the
// noted grid an ordinary one of the queue, so a grid is noted only while nothing else is to be
// done.
//
// The waiting thread is a *guest*: for one grid it is a worker, with a block and numbers of its
// own. There is one guest at a time. What must hold:
//
//   - It runs only grids that the awaited work depends on. The thread could not return earlier
//     anyway, so it cannot be held up by something that waits for it.
//   - It does not take other work afterwards. What follows on the grid goes to workers, unless the
//     awaited work depends on it too (objects/streams/operation.cpp).
//   - A block that yields while there is other work goes to the queue as always.
//   - Grids with a fixed order (one worker, random schedules) are left to the workers.
//   - The thread may have any stack and any floating-point mode. A stack that is small, or that the
//     system does not know (of a coroutine), is not used.
//   - A request to cancel the thread waits until the kernel has ended.

#include "exec/default_floating_point.hpp"
#include "exec/engine_state.hpp"

#include <pthread.h>

#include <cstddef>
#include <new>
#include <utility>

namespace cuprum::emulator::exec {

namespace {

/// How much stack a thread must have left to run kernels. They use less than a tenth of it.
constexpr std::size_t MIN_STACK_BYTES = 512 * 1024;

/// A scope in which this thread cannot be cancelled. Kernels that print would notice a request.
class Uncancelled {
public:
    [[nodiscard]] Uncancelled() noexcept {
        (void)::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
    }

    ~Uncancelled() { (void)::pthread_setcancelstate(before_, nullptr); }

    Uncancelled(const Uncancelled&) = delete;
    Uncancelled& operator=(const Uncancelled&) = delete;

private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

/// The stack of a thread.
struct Stack {
    const std::byte* begin = nullptr; // null: unknown
    const std::byte* end = nullptr;
};

[[nodiscard]] Stack stack_of_this_thread() noexcept {
    Stack stack;
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) {
        void* begin = nullptr;
        std::size_t bytes = 0;
        if (::pthread_attr_getstack(&attributes, &begin, &bytes) == 0) {
            stack.begin = static_cast<const std::byte*>(begin);
            stack.end = stack.begin + bytes;
        }
        ::pthread_attr_destroy(&attributes);
    }
    return stack;
}

/// Returns whether this thread has room for a kernel on its stack.
[[nodiscard]] bool has_room_on_stack() noexcept {
    thread_local const Stack STACK = stack_of_this_thread(); // takes up to a millisecond
    const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
    return here > STACK.begin && here < STACK.end &&
           static_cast<std::size_t>(here - STACK.begin) >= MIN_STACK_BYTES;
}

} // namespace

bool Engine::help(const std::function<bool(const void*)>& is_awaited) {
    return state_->is_noted.load(std::memory_order_relaxed) && state_->help(is_awaited);
}

/// Leaves a grid to the thread that will wait for it, or to a worker that watches. Returns false if
/// a worker must be called. Needs the mutex.
bool Engine::State::leave_to_waiting_thread(const std::shared_ptr<Grid>& grid) {
    const bool is_on_worker = this_worker != nullptr && !this_worker->is_guest;
    if (grid->launch().awaited_as == nullptr || grid->cluster_count() != 1 || is_on_worker ||
        is_random || noted != nullptr || worker_count.load(std::memory_order_relaxed) == 1 ||
        waiting.load(std::memory_order_relaxed) != 0 || !idle.leave_note()) {
        return false;
    }
    noted = grid;
    is_noted.store(true, std::memory_order_relaxed);
    return true;
}

/// Takes back the note. Returns its grid, or nullptr if there is no note. Needs the mutex.
std::shared_ptr<Grid> Engine::State::take_noted() {
    if (noted == nullptr) [[likely]] {
        return nullptr;
    }
    idle.take_note();
    is_noted.store(false, std::memory_order_relaxed);
    return std::exchange(noted, nullptr);
}

/// Makes the noted grid an ordinary one of the queue. Returns how many workers must be called for
/// it: one, or none if there is no noted grid. Needs the mutex.
std::uint32_t Engine::State::enqueue_noted() noexcept {
    if (noted == nullptr) [[likely]] {
        return 0;
    }
    try {
        enqueue(noted);
    } catch (const std::bad_alloc&) {
        return 0; // the note stays: its worker looks again and again
    }
    (void)take_noted();
    return 1;
}

/// Runs the noted grid on this thread if the thread waits for it. Takes the mutex.
bool Engine::State::help(const std::function<bool(const void*)>& is_awaited) {
    if (this_worker != nullptr || !has_room_on_stack()) {
        return false;
    }
    std::shared_ptr<Grid> grid;
    {
        const std::lock_guard lock(mutex);
        if (noted == nullptr || is_guest_busy || !is_awaited(noted->launch().awaited_as)) {
            return false;
        }
        grid = take_noted();
        is_guest_busy = true;
        ++busy; // the workers do not stop before the guest is done
    }
    {
        const Uncancelled uncancelled;
        const DefaultFloatingPoint numbers;
        this_worker = &workers[worker_count.load(std::memory_order_relaxed)];
        run_grid(*this_worker, grid);
        this_worker = nullptr;
    }
    const std::lock_guard lock(mutex);
    is_guest_busy = false;
    --busy;
    if (is_stopping && busy == 0) {
        idle.wake(idle.call(worker_count.load(std::memory_order_relaxed)));
    }
    return true;
}

} // namespace cuprum::emulator::exec
