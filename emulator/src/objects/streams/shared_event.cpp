// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/streams/shared_event.hpp"

#include "objects/memory/host_pages.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>

namespace cuprum::emulator {

/// The memory that processes share. Other processes may write anything here, so every value is only
/// a hint.
struct SharedEvent::Page {
    std::atomic<std::uint64_t> begun;
    std::atomic<std::uint64_t> reached;
    std::atomic<std::uint64_t> failed;  // the latest record whose work failed
    std::atomic<std::uint32_t> changes; // counts changes, so that a waiting thread misses none
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

namespace {

constexpr std::uint64_t NUMBER_MASK = (std::uint64_t{1} << 62) - 1; // the largest offset of a lock
constexpr int MAX_ATTEMPTS = 10000;
constexpr long LONGEST_NAP_NS = 10'000'000; // after this time a dead process is detected

// NOTE: there is one per file and process. Locks belong to the process, and closing any descriptor
// of a file drops all locks that the process holds on it.
std::mutex registry_mutex;

std::map<SharedToken, std::weak_ptr<SharedEvent>>& registry() {
    static auto* events = new std::map<SharedToken, std::weak_ptr<SharedEvent>>;
    return *events;
}

void sleep_until_changed(std::atomic<std::uint32_t>& word, std::uint32_t seen) noexcept {
    const timespec longest{0, LONGEST_NAP_NS};
    ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &longest, nullptr, 0);
}

} // namespace

std::shared_ptr<SharedEvent> SharedEvent::create() {
    SharedHeader about;
    about.kind = SharedKind::Event;
    about.bytes = PAGE_BYTES;
    std::shared_ptr<SharedEvent> event(new SharedEvent(SharedFile::create(about)));
    const std::lock_guard lock(registry_mutex);
    registry()[event->file_->header().token] = event;
    return event;
}

std::shared_ptr<SharedEvent> SharedEvent::open(const SharedAddress& address) {
    // Destroyed after the mutex is unlocked, because the destructor locks it.
    std::unique_ptr<SharedEvent> made;
    std::shared_ptr<SharedEvent> event;
    const std::lock_guard lock(registry_mutex);
    if (const auto found = registry().find(address.token); found != registry().end()) {
        if (event = found->second.lock(); event != nullptr) {
            return event;
        }
    }
    auto file = SharedFile::open(address);
    if (file->header().kind != SharedKind::Event || file->data_bytes() < PAGE_BYTES) {
        fail(CUDA_ERROR_INVALID_HANDLE, "not the handle of an event");
    }
    made.reset(new SharedEvent(std::move(file)));
    event = std::move(made);
    registry()[address.token] = event;
    return event;
}

SharedEvent::SharedEvent(std::shared_ptr<SharedFile> file) : file_(std::move(file)) {
    void* mapped = ::mmap(nullptr, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                          file_->descriptor(), static_cast<off_t>(SharedFile::DATA_OFFSET));
    if (mapped == MAP_FAILED) {
        fail(CUDA_ERROR_MAP_FAILED, "the system refused to map the event");
    }
    page_ = static_cast<Page*>(mapped);
}

SharedEvent::~SharedEvent() {
    ::munmap(page_, PAGE_BYTES);
    const std::lock_guard lock(registry_mutex);
    const auto found = registry().find(file_->header().token);
    // Another thread may have opened the event again in the meantime.
    if (found != registry().end() && found->second.expired()) {
        registry().erase(found);
    }
}

std::uint64_t SharedEvent::begin() {
    // Lock first: when other processes see a number, they must also see the lock of its process.
    for (int attempt = 0; attempt < MAX_ATTEMPTS; ++attempt) {
        std::uint64_t latest = page_->begun.load();
        const std::uint64_t number = (latest + 1) & NUMBER_MASK;
        if (number != 0 && set_lock(number, true)) {
            if (page_->begun.compare_exchange_strong(latest, number)) {
                begun_here_.store(number);
                return number;
            }
            (void)set_lock(number, false);
        }
        std::this_thread::yield();
    }
    fail(CUDA_ERROR_OPERATING_SYSTEM, "the shared event could not be locked");
}

void SharedEvent::reach(std::uint64_t number, bool has_failed) noexcept {
    if (has_failed) {
        page_->failed.store(number);
    }
    std::uint64_t before = page_->reached.load();
    while (before < number && !page_->reached.compare_exchange_weak(before, number)) {
    }
    std::uint64_t ended = ended_here_.load();
    while (ended < number && !ended_here_.compare_exchange_weak(ended, number)) {
    }
    (void)set_lock(number, false);
    page_->changes.fetch_add(1);
    ::syscall(SYS_futex, &page_->changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::uint64_t SharedEvent::latest() const noexcept {
    return page_->begun.load();
}

SharedEvent::Outcome SharedEvent::outcome(std::uint64_t number) const noexcept {
    const auto settled = [&] {
        return page_->failed.load() == number ? Outcome::Failed : Outcome::Reached;
    };
    if (number == 0 || page_->reached.load() >= number) {
        return number == 0 ? Outcome::Reached : settled();
    }
    const bool is_ours = number <= begun_here_.load() && number > ended_here_.load();
    if (is_ours || is_locked_elsewhere(number)) {
        return Outcome::Pending;
    }
    // No process holds the lock. The record was reached in the meantime, or never will be.
    return page_->reached.load() >= number ? settled() : Outcome::Failed;
}

SharedEvent::Outcome SharedEvent::wait(std::uint64_t number,
                                       const std::function<bool()>& is_given_up) const noexcept {
    for (;;) {
        const std::uint32_t seen = page_->changes.load();
        const Outcome now = outcome(number);
        if (now != Outcome::Pending || is_given_up()) {
            return now;
        }
        sleep_until_changed(page_->changes, seen);
    }
}

bool SharedEvent::set_lock(std::uint64_t number, bool is_held) const noexcept {
    struct flock lock{};
    lock.l_type = static_cast<short>(is_held ? F_WRLCK : F_UNLCK);
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(number & NUMBER_MASK);
    lock.l_len = 1;
    return ::fcntl(file_->descriptor(), F_SETLK, &lock) == 0;
}

bool SharedEvent::is_locked_elsewhere(std::uint64_t number) const noexcept {
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(number & NUMBER_MASK);
    lock.l_len = 1;
    return ::fcntl(file_->descriptor(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

} // namespace cuprum::emulator
