// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/shared_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <string>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>

namespace cuprum::emulator {

namespace {

constexpr std::uint64_t MAGIC = 0x48534D5552505543; // the bytes "CUPRUMSH"
constexpr std::uint32_t VERSION = 1;
constexpr char FILE_NAME[] = "cuprum-emulated-memory";
constexpr std::uint64_t LARGEST_FILE_BYTES = std::uint64_t{1} << 46;

std::string link_of(int process, int descriptor) {
    return "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
}

} // namespace

void check_handle_types(unsigned types) {
    constexpr unsigned known = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 |
                               CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC;
    require((types & ~known) == 0, "unknown type of handle");
    if ((types & ~unsigned{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}) != 0) {
        fail(CUDA_ERROR_NOT_SUPPORTED,
             "the emulated device shares memory by POSIX file descriptors only");
    }
}

std::shared_ptr<SharedFile> SharedFile::create(SharedHeader about) {
    about.magic = MAGIC;
    about.version = VERSION;
    if (::getrandom(about.token.data(), about.token.size(), 0) !=
        static_cast<ssize_t>(about.token.size())) {
        fail(CUDA_ERROR_OPERATING_SYSTEM, "the system gave no random bytes");
    }
    const int descriptor = ::memfd_create(FILE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) {
        fail(CUDA_ERROR_OUT_OF_MEMORY,
             std::string("the system refused an anonymous file: ") + std::strerror(errno));
    }
    std::shared_ptr<SharedFile> file(new SharedFile(descriptor, about));
    file->grow_to(about.bytes);
    int seals = F_SEAL_SHRINK;
    if (about.bytes != 0) {
        seals |= F_SEAL_GROW | F_SEAL_SEAL;
    }
    if (::pwrite(descriptor, &about, sizeof about, 0) != static_cast<ssize_t>(sizeof about) ||
        ::fcntl(descriptor, F_ADD_SEALS, seals) != 0) {
        fail(CUDA_ERROR_OUT_OF_MEMORY, "the system refused memory for the emulated device");
    }
    return file;
}

std::shared_ptr<SharedFile> SharedFile::adopt(int descriptor, SharedKind kind) {
    const int own = descriptor < 0 ? -1 : ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (own < 0) {
        fail(CUDA_ERROR_INVALID_VALUE,
             "descriptor " + std::to_string(descriptor) + " is not open in this process");
    }
    return check(own, kind, CUDA_ERROR_INVALID_VALUE);
}

std::shared_ptr<SharedFile> SharedFile::open(const SharedAddress& address) {
    if (address.magic != MAGIC || address.process <= 0 || address.descriptor < 0) {
        fail(CUDA_ERROR_INVALID_HANDLE, "not a handle that an emulated device has made");
    }
    // Opening an arbitrary file could block or have side effects, so check the name first.
    const std::string link = link_of(address.process, address.descriptor);
    const std::string expected = std::string("/memfd:") + FILE_NAME;
    char target[128] = {};
    const ssize_t length = ::readlink(link.c_str(), target, sizeof target - 1);
    const bool is_ours = length > 0 && std::string(target).starts_with(expected);
    const int descriptor =
        is_ours ? ::open(link.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (descriptor < 0) {
        fail(CUDA_ERROR_INVALID_HANDLE,
             "process " + std::to_string(address.process) +
                 " no longer shares this: it has ended, has released it, or belongs to "
                 "another user");
    }
    auto file = check(descriptor, address.kind, CUDA_ERROR_INVALID_HANDLE);
    if (file->header_.token != address.token) {
        fail(CUDA_ERROR_INVALID_HANDLE, "the object of the handle has been released");
    }
    return file;
}

std::shared_ptr<SharedFile> SharedFile::check(int descriptor, SharedKind kind, CUresult code) {
    SharedHeader header;
    std::shared_ptr<SharedFile> file(new SharedFile(descriptor, header)); // closes it on failure
    const int seals = ::fcntl(descriptor, F_GET_SEALS);
    struct stat status{};
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(descriptor, &status) != 0 ||
        status.st_size < static_cast<off_t>(DATA_OFFSET) ||
        ::pread(descriptor, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header) ||
        header.magic != MAGIC) {
        fail(code, "the descriptor is not shared memory of an emulated device");
    }
    if (header.version != VERSION) {
        fail(code, "the memory was made by another version of the emulated device");
    }
    if (header.kind != kind) {
        fail(code, "the descriptor is of another kind of object");
    }
    if (header.bytes > static_cast<std::uint64_t>(status.st_size) - DATA_OFFSET) {
        fail(code, "the file is shorter than its header says");
    }
    file->header_ = header;
    return file;
}

SharedFile::~SharedFile() {
    ::close(descriptor_);
}

int SharedFile::duplicate() const {
    const int copy = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
        fail(CUDA_ERROR_OPERATING_SYSTEM,
             std::string("the system refused a file descriptor: ") + std::strerror(errno));
    }
    return copy;
}

SharedAddress SharedFile::address() const noexcept {
    SharedAddress address;
    address.magic = MAGIC;
    address.kind = header_.kind;
    address.process = ::getpid();
    address.descriptor = descriptor_;
    address.token = header_.token;
    address.bytes = header_.bytes;
    return address;
}

std::uint64_t SharedFile::data_bytes() const {
    struct stat status{};
    if (::fstat(descriptor_, &status) != 0 || status.st_size < static_cast<off_t>(DATA_OFFSET)) {
        return 0;
    }
    return static_cast<std::uint64_t>(status.st_size) - DATA_OFFSET;
}

void SharedFile::grow_to(std::uint64_t data_bytes) {
    if (data_bytes > LARGEST_FILE_BYTES ||
        ::ftruncate(descriptor_, static_cast<off_t>(DATA_OFFSET + data_bytes)) != 0) {
        fail(CUDA_ERROR_OUT_OF_MEMORY, "the system refused memory for the emulated device");
    }
}

void SharedFile::discard(std::uint64_t offset, std::uint64_t bytes) noexcept {
    // If this fails, the memory is freed with the file.
    (void)::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      static_cast<off_t>(DATA_OFFSET + offset), static_cast<off_t>(bytes));
}

void SharedFile::write_table(std::uint64_t offset, const void* data, std::size_t bytes) {
    const auto start = static_cast<off_t>(sizeof(SharedHeader) + offset);
    if (::pwrite(descriptor_, data, bytes, start) != static_cast<ssize_t>(bytes)) {
        fail(CUDA_ERROR_OUT_OF_MEMORY, "the system refused memory for the emulated device");
    }
}

bool SharedFile::read_table(std::uint64_t offset, void* data, std::size_t bytes) const {
    if (offset > DATA_OFFSET - sizeof(SharedHeader) - bytes) {
        return false;
    }
    const auto start = static_cast<off_t>(sizeof(SharedHeader) + offset);
    return ::pread(descriptor_, data, bytes, start) == static_cast<ssize_t>(bytes);
}

} // namespace cuprum::emulator
