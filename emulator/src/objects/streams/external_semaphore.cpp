// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/streams/external_semaphore.hpp"

#include "objects/process/error.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

namespace cuprum::emulator {

namespace {

const char* name_of_unsupported(CUexternalSemaphoreHandleType type) {
    switch (type) {
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32:
        return "OPAQUE_WIN32";
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_KMT:
        return "OPAQUE_WIN32_KMT";
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE:
        return "D3D12_FENCE";
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_FENCE:
        return "D3D11_FENCE";
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC:
        return "NVSCISYNC";
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX:
        return "D3D11_KEYED_MUTEX";
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX_KMT:
        return "D3D11_KEYED_MUTEX_KMT";
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32:
        return "TIMELINE_SEMAPHORE_WIN32";
    default:
        return nullptr;
    }
}

/// Returns what the system says a descriptor is, such as "anon_inode:[eventfd]".
std::string kind_of(int descriptor) {
    char target[128] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    const ssize_t length = ::readlink(link.c_str(), target, sizeof target - 1);
    return length > 0 ? std::string(target) : std::string("unknown");
}

/// An eventfd.
class BinarySemaphore final : public ExternalSemaphore {
public:
    explicit BinarySemaphore(int descriptor) : descriptor_(descriptor) {}

    ~BinarySemaphore() override { ::close(descriptor_); }

    BinarySemaphore(const BinarySemaphore&) = delete;
    BinarySemaphore& operator=(const BinarySemaphore&) = delete;

    void signal(std::uint64_t /*value*/) noexcept override {
        const std::uint64_t one = 1;
        while (::write(descriptor_, &one, sizeof one) < 0 && errno == EINTR) {
        }
    }

    [[nodiscard]] bool try_wait(std::uint64_t /*value*/) noexcept override {
        pollfd request{descriptor_, POLLIN, 0};
        if (::poll(&request, 1, 0) != 1 || (request.revents & POLLIN) == 0) {
            return false;
        }
        // Another process may take it first: never block.
        std::uint64_t taken = 0;
        const iovec place{&taken, sizeof taken};
        ssize_t bytes = ::preadv2(descriptor_, &place, 1, -1, RWF_NOWAIT);
        if (bytes < 0 && errno == EOPNOTSUPP) { // before Linux 5.8
            bytes = ::read(descriptor_, &taken, sizeof taken);
        }
        return bytes == static_cast<ssize_t>(sizeof taken);
    }

private:
    int descriptor_;
};

/// A counter in shared memory.
class TimelineSemaphore final : public ExternalSemaphore {
public:
    TimelineSemaphore(int descriptor, void* page)
        : descriptor_(descriptor), counter_(static_cast<std::uint64_t*>(page)) {}

    ~TimelineSemaphore() override {
        ::munmap(counter_, sizeof *counter_);
        ::close(descriptor_);
    }

    TimelineSemaphore(const TimelineSemaphore&) = delete;
    TimelineSemaphore& operator=(const TimelineSemaphore&) = delete;

    void signal(std::uint64_t value) noexcept override {
        const std::atomic_ref counter(*counter_);
        std::uint64_t now = counter.load();
        while (now < value && !counter.compare_exchange_weak(now, value)) {
        }
    }

    [[nodiscard]] bool try_wait(std::uint64_t value) noexcept override {
        return std::atomic_ref(*counter_).load() >= value;
    }

private:
    int descriptor_;
    std::uint64_t* counter_;
};

std::shared_ptr<ExternalSemaphore> import_binary(int descriptor) {
    const std::string kind = kind_of(descriptor);
    if (kind != "anon_inode:[eventfd]") {
        fail(CUDA_ERROR_NOT_SUPPORTED,
             "the descriptor is '" + kind +
                 "'; as OPAQUE_FD the emulated device imports semaphores of eventfd, not those of "
                 "graphics drivers");
    }
    return std::make_shared<BinarySemaphore>(descriptor);
}

std::shared_ptr<ExternalSemaphore> import_timeline(int descriptor) {
    struct stat status{};
    const bool is_long_enough = ::fstat(descriptor, &status) == 0 &&
                                status.st_size >= static_cast<off_t>(sizeof(std::uint64_t));
    void* const page = is_long_enough ? ::mmap(nullptr, sizeof(std::uint64_t),
                                               PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
                                      : MAP_FAILED;
    if (page == MAP_FAILED) {
        fail(
            CUDA_ERROR_NOT_SUPPORTED,
            "the descriptor is '" + kind_of(descriptor) +
                "'; as TIMELINE_SEMAPHORE_FD the emulated device imports shared memory that begins "
                "with an 8-byte counter, not semaphores of graphics drivers");
    }
    (void)::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK); // the counter must not go away
    return std::make_shared<TimelineSemaphore>(descriptor, page);
}

} // namespace

std::shared_ptr<ExternalSemaphore>
ExternalSemaphore::import(const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC& description) {
    const bool is_timeline =
        description.type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    if (!is_timeline && description.type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD) {
        const char* const name = name_of_unsupported(description.type);
        require(name != nullptr, "unknown type of handle");
        fail(CUDA_ERROR_NOT_SUPPORTED,
             std::string("semaphores of type ") + name +
                 " cannot be imported: the emulated device imports OPAQUE_FD and "
                 "TIMELINE_SEMAPHORE_FD");
    }
    require(description.flags == 0, "the flags must be 0");
    require_zero(description.reserved);
    const int descriptor = description.handle.fd;
    if (descriptor < 0 || ::fcntl(descriptor, F_GETFD) < 0) {
        fail(CUDA_ERROR_INVALID_VALUE,
             "descriptor " + std::to_string(descriptor) + " is not open in this process");
    }
    return is_timeline ? import_timeline(descriptor) : import_binary(descriptor);
}

void perform(const SemaphoreSignals& batch) noexcept {
    for (std::size_t index = 0; index < batch.semaphores.size(); ++index) {
        batch.semaphores[index]->signal(batch.items[index].params.fence.value);
    }
}

bool try_waits(const SemaphoreWaits& batch, std::size_t& next) noexcept {
    while (next < batch.semaphores.size() &&
           batch.semaphores[next]->try_wait(batch.items[next].params.fence.value)) {
        ++next;
    }
    return next == batch.semaphores.size();
}

} // namespace cuprum::emulator
