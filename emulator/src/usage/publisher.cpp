// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "usage/publisher.hpp"

#include "usage/board.hpp"
#include "usage/folder.hpp"
#include "usage/reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>

namespace cuprum::emulator::usage {

namespace {

Record private_record{};
Folder* folder = nullptr; // never deleted: threads may outlive static objects
int file = -1;            // its lock shows that the process lives
std::string file_name;

/// Gives the file its size with all of its memory. A file with holes would raise SIGBUS later, at a
/// write that finds the folder's disk full. Sets errno if it fails.
bool reserve_file() {
    int problem = EINTR;
    while (problem == EINTR) {
        problem = ::posix_fallocate(file, 0, sizeof(Record));
    }
    errno = problem;
    return problem == 0;
}

/// Creates the file under a hidden name, which readers skip, and maps it.
Record* create_file(const std::string& hidden) {
    file = ::openat(folder->descriptor(), hidden.c_str(),
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0 || !reserve_file() || ::flock(file, LOCK_EX | LOCK_NB) != 0) {
        return nullptr;
    }
    void* const memory =
        ::mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return memory == MAP_FAILED ? nullptr : new (memory) Record{};
}

} // namespace

std::atomic<Record*> detail::record{&private_record};
std::array<std::atomic<std::uint8_t>, MAX_DEVICES> detail::units{};

std::string publish(std::uint32_t device_count, std::uint32_t worker_count) {
    folder = new Folder;
    if (folder->descriptor() < 0) {
        return folder->problem();
    }
    std::uint32_t random = 0;
    // Without random numbers the process id has to do.
    [[maybe_unused]] const ssize_t got = ::getrandom(&random, sizeof random, GRND_NONBLOCK);
    char name[48];
    std::snprintf(name, sizeof name, "%s%d-%08x", RECORD_PREFIX, ::getpid(), random);
    file_name = name;
    const std::string hidden = "." + file_name;
    Record* const made = create_file(hidden);
    if (made != nullptr) {
        made->magic = RECORD_MAGIC;
        made->version = RECORD_VERSION;
        made->bytes = sizeof(Record);
        made->start_ticks = start_ticks_of(::getpid());
        made->pid = ::getpid();
        made->device_count = device_count;
        made->worker_count = worker_count;
        if (::renameat(folder->descriptor(), hidden.c_str(), folder->descriptor(),
                       file_name.c_str()) == 0) {
            detail::record.store(made, std::memory_order_release);
            return {};
        }
    }
    const std::string problem = folder->path() + ": " + std::strerror(errno);
    (void)::unlinkat(folder->descriptor(), hidden.c_str(), 0);
    if (file >= 0) {
        ::close(file);
        file = -1;
    }
    return problem;
}

void withdraw() noexcept {
    if (file < 0) {
        return;
    }
    (void)::unlinkat(folder->descriptor(), file_name.c_str(), 0);
    ::close(file);
    file = -1;
    // The mapping stays: other threads may still count something.
}

void report_failure(int device, std::uint64_t xid) noexcept {
    if (file >= 0) {
        Board(*folder).report_failure(unit_of(device), xid);
    }
}

void abandon_in_child() noexcept {
    detail::record.store(&private_record, std::memory_order_relaxed);
    if (file >= 0) {
        ::close(file); // the child must not keep the parent's lock
        file = -1;
    }
}

} // namespace cuprum::emulator::usage
