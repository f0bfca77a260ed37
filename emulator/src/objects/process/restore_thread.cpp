// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/restore_thread.hpp"

#include "objects/devices/context.hpp"
#include "objects/devices/device.hpp"
#include "objects/process/call_gate.hpp"
#include "objects/process/driver.hpp"
#include "objects/process/error.hpp"
#include "objects/process/log.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <sys/syscall.h>
#include <thread>

namespace cuprum::emulator {

namespace {

constexpr int LOOK_AGAIN_MS = 1;    // while a lock waits
constexpr int ACCEPT_AGAIN_MS = 10; // after a connection that could not be taken

/// Returns whether no stream of the process has work left. Only while no call is inside.
bool is_all_work_done() {
    const auto contexts = HandleTable::instance().all(HandleKind::Context);
    return std::ranges::all_of(
        contexts, [](const auto& object) { return static_cast<Context&>(*object).is_drained(); });
}

bool is_same(const CUuuid& first, const CUuuid& second) {
    return std::memcmp(first.bytes, second.bytes, sizeof first.bytes) == 0;
}

const char* name_of(CUprocessState state) {
    switch (state) {
    case CU_PROCESS_STATE_RUNNING:
        return "running";
    case CU_PROCESS_STATE_LOCKED:
        return "locked";
    case CU_PROCESS_STATE_CHECKPOINTED:
        return "checkpointed";
    default:
        return "failed";
    }
}

/// Returns the machine's device for each device of the process, as pairs say. They may name devices
/// that CUDA_VISIBLE_DEVICES hides.
std::vector<int> read_pairs(std::span<const CUcheckpointGpuPair> pairs) {
    Driver& driver = Driver::instance();
    const int count = driver.unit_count();
    const auto unit_of = [&](const CUuuid& uuid) {
        for (int unit = 0; unit < count; ++unit) {
            if (is_same(driver.device(0).uuid_of(unit), uuid)) {
                return unit;
            }
        }
        fail(CUDA_ERROR_INVALID_VALUE, "a UUID of the mapping is of no device of the machine");
    };
    std::vector<int> targets(static_cast<std::size_t>(count), -1); // by unit
    std::vector<bool> is_used(static_cast<std::size_t>(count), false);
    for (const CUcheckpointGpuPair& pair : pairs) {
        int& target = targets[static_cast<std::size_t>(unit_of(pair.oldUuid))];
        require(target < 0, "the mapping names a device of the checkpoint twice");
        target = unit_of(pair.newUuid);
        require(!is_used[static_cast<std::size_t>(target)],
                "the mapping names a device to restore onto twice");
        is_used[static_cast<std::size_t>(target)] = true;
    }
    std::vector<int> units; // by ordinal
    for (int ordinal = 0; ordinal < driver.device_count(); ++ordinal) {
        units.push_back(targets[static_cast<std::size_t>(driver.device(ordinal).unit())]);
        require(units.back() >= 0, "the mapping must name every device of the process");
    }
    return units;
}

} // namespace

RestoreThread& RestoreThread::instance() {
    static auto* thread = new RestoreThread;
    return *thread;
}

void RestoreThread::start() noexcept {
    const std::lock_guard lock(start_mutex_);
    if (std::exchange(is_started_, true)) {
        return;
    }
    try {
        for (auto& connection : connections_) {
            connection.store(-1);
        }
        socket_.listen();
        listening_.store(socket_.descriptor());
        // The program's signal handlers run on the program's threads.
        sigset_t all;
        sigset_t before;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);
        try {
            std::thread([this] { serve(); }).detach();
        } catch (...) {
            ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
            throw;
        }
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    } catch (const std::exception& error) {
        socket_.withdraw();
        log(LogLevel::Warn,
            std::string("other processes cannot checkpoint this one: ") + error.what());
    }
}

void RestoreThread::withdraw() noexcept {
    const std::lock_guard lock(start_mutex_);
    if (is_started_) {
        socket_.withdraw();
    }
}

void RestoreThread::forget_after_fork() noexcept {
    if (const int listening = listening_.exchange(-1); listening >= 0) {
        ::close(listening);
        for (auto& connection : connections_) {
            if (const int open = connection.exchange(-1); open >= 0) {
                ::close(open);
            }
        }
    }
}

void RestoreThread::serve() noexcept {
    thread_ = static_cast<int>(::syscall(SYS_gettid));
    ::pthread_setname_np(::pthread_self(), "cuprum-restore");
    for (;;) {
        std::array<pollfd, MAX_CONNECTIONS + 1> waited{};
        waited[0] = {listening_.load(), POLLIN, 0};
        for (std::size_t index = 0; index < MAX_CONNECTIONS; ++index) {
            waited[index + 1] = {connections_[index].load(), POLLIN, 0};
        }
        ::poll(waited.data(), waited.size(), pending_ ? LOOK_AGAIN_MS : -1);
        for (std::size_t index = 0; index < MAX_CONNECTIONS; ++index) {
            if (waited[index + 1].revents != 0) {
                serve_connection(connections_[index]);
            }
        }
        if (waited[0].revents != 0) {
            take_connections();
        }
        if (pending_) {
            continue_lock();
        }
    }
}

void RestoreThread::take_connections() noexcept {
    const int connection = socket_.accept();
    if (connection < 0) {
        // If the process has no free descriptor, the connection stays and poll() returns at once.
        ::poll(nullptr, 0, ACCEPT_AGAIN_MS);
        return;
    }
    const auto room =
        std::ranges::find_if(connections_, [](const auto& each) { return each.load() < 0; });
    if (room == connections_.end()) {
        ::close(connection);
        return;
    }
    room->store(connection);
}

/// Reads one request and answers it; hangs up on whoever says something else.
void RestoreThread::serve_connection(std::atomic<int>& connection) noexcept {
    const int number = connection.load();
    const bool is_waiting = pending_ && pending_->connection == number;
    std::optional<ControlRequest> request;
    try {
        // Whoever waits for a lock has nothing more to say, except that he is gone.
        request = is_waiting ? std::nullopt : ControlSocket::receive(number);
        if (!request) {
            hang_up(connection);
            return;
        }
        if (const auto found = carry_out(number, *request)) {
            (void)ControlSocket::send(number, *found);
            hang_up(connection);
        }
    } catch (const std::exception& error) {
        ControlAnswer failed = answer();
        const auto* known = dynamic_cast<const DriverError*>(&error);
        failed.result = known != nullptr ? known->code() : CUDA_ERROR_UNKNOWN;
        try {
            failed.message = error.what();
        } catch (const std::bad_alloc&) {
            failed.message.clear();
        }
        (void)ControlSocket::send(number, failed);
        hang_up(connection);
    }
}

void RestoreThread::hang_up(std::atomic<int>& connection) noexcept {
    const int number = connection.exchange(-1);
    if (pending_ && pending_->connection == number) {
        abandon_lock();
    }
    if (number >= 0) {
        ::close(number);
    }
}

std::optional<ControlAnswer> RestoreThread::carry_out(int connection,
                                                      const ControlRequest& request) {
    switch (request.command) {
    case ControlCommand::GetState:
    case ControlCommand::GetThread:
        break;
    case ControlCommand::Lock:
        begin_lock(connection, request.timeout_ms);
        return std::nullopt; // answered when it is done
    case ControlCommand::Checkpoint:
        checkpoint();
        break;
    case ControlCommand::Restore:
        restore(request.pairs);
        break;
    case ControlCommand::Unlock:
        unlock();
        break;
    }
    return answer();
}

ControlAnswer RestoreThread::answer() const {
    return {CUDA_SUCCESS, state_, thread_, {}};
}

void RestoreThread::begin_lock(int connection, std::uint32_t timeout_ms) {
    require_state(CU_PROCESS_STATE_RUNNING, "lock");
    if (!Driver::instance().hold_calls()) {
        fail(CUDA_ERROR_ILLEGAL_STATE, "the process is leaving");
    }
    pending_ = PendingLock{.connection = connection, .deadline = {}};
    if (timeout_ms != 0) {
        pending_->deadline =
            std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    }
}

/// Ends a lock that waits: when nothing runs any more, or when its time is up.
void RestoreThread::continue_lock() noexcept {
    const auto connection = std::ranges::find_if(
        connections_, [&](const auto& each) { return each.load() == pending_->connection; });
    ControlAnswer found = answer();
    if (CallGate::is_empty() && is_all_work_done()) {
        found.state = CU_PROCESS_STATE_LOCKED;
        if (ControlSocket::send(pending_->connection, found)) {
            state_ = CU_PROCESS_STATE_LOCKED;
            pending_.reset();
        }
        hang_up(*connection); // abandons the lock if nobody was there to hear of it
        return;
    }
    if (pending_->deadline && std::chrono::steady_clock::now() > *pending_->deadline) {
        const int number = pending_->connection;
        abandon_lock();
        found.result = CUDA_ERROR_NOT_READY;
        found.message = "calls or work of the process did not end in time; it continues";
        (void)ControlSocket::send(number, found);
        hang_up(*connection);
    }
}

void RestoreThread::abandon_lock() noexcept {
    pending_.reset();
    Driver::instance().resume_calls();
}

void RestoreThread::checkpoint() {
    require_state(CU_PROCESS_STATE_LOCKED, "checkpoint");
    image_ = MemoryImage::save();
    Driver& driver = Driver::instance();
    for (int ordinal = 0; ordinal < driver.device_count(); ++ordinal) {
        driver.device(ordinal).give_up();
    }
    state_ = CU_PROCESS_STATE_CHECKPOINTED;
    log(LogLevel::Info, "checkpointed: " + std::to_string(image_->kept_bytes()) +
                            " bytes of device memory are kept in host memory");
}

void RestoreThread::restore(std::span<const CUcheckpointGpuPair> pairs) {
    require_state(CU_PROCESS_STATE_CHECKPOINTED, "restore");
    Driver& driver = Driver::instance();
    const std::vector<int> units = pairs.empty() ? std::vector<int>{} : read_pairs(pairs);
    image_->restore();
    image_.reset();
    for (int ordinal = 0; ordinal < driver.device_count(); ++ordinal) {
        Device& device = driver.device(ordinal);
        if (!units.empty()) {
            device.move_to(units[static_cast<std::size_t>(ordinal)]);
        }
        device.take_back();
    }
    state_ = CU_PROCESS_STATE_LOCKED;
}

void RestoreThread::unlock() {
    require_state(CU_PROCESS_STATE_LOCKED, "unlock");
    state_ = CU_PROCESS_STATE_RUNNING;
    Driver::instance().resume_calls();
}

void RestoreThread::require_state(CUprocessState wanted, const char* action) const {
    if (state_ != wanted) {
        fail(CUDA_ERROR_ILLEGAL_STATE, std::string("to ") + action + " a process it must be " +
                                           name_of(wanted) + ", but it is " + name_of(state_));
    }
    if (pending_) {
        fail(CUDA_ERROR_ILLEGAL_STATE, "another lock of the process is under way");
    }
}

} // namespace cuprum::emulator
