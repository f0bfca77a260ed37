// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/control_channel.hpp"

#include "objects/process/error.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <utility>

namespace cuprum::emulator {

namespace {

constexpr std::uint64_t CONTROL_MAGIC = 0x4C544E4352505543; // the bytes "CUPRCNTL"
constexpr std::uint32_t CONTROL_VERSION = 1;
constexpr std::string_view SUFFIX = ".control";
constexpr std::size_t MAX_PAIRS = 256;
constexpr int BACKLOG = 16;
constexpr int GRACE_MS = 5'000; // for the answer to a lock, after its timeout

/// The first bytes of a request; the pairs follow.
struct RequestHeader {
    std::uint64_t magic = 0;
    std::uint32_t version = 0;
    std::uint32_t command = 0;
    std::uint32_t timeout_ms = 0;
    std::uint32_t pair_count = 0;
};

struct AnswerPacket {
    std::uint64_t magic = 0;
    std::uint32_t version = 0;
    std::int32_t result = 0;
    std::int32_t state = 0;
    std::int32_t thread = 0;
    std::array<char, 512> message{};
};

constexpr std::size_t LARGEST_REQUEST =
    sizeof(RequestHeader) + MAX_PAIRS * sizeof(CUcheckpointGpuPair);

/// A descriptor that is closed with its scope.
class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}

    ~Descriptor() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }

    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    [[nodiscard]] int get() const noexcept { return number_; }

    [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

private:
    int number_;
};

std::string socket_name(pid_t process) {
    return std::to_string(process) + std::string(SUFFIX);
}

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        throw std::runtime_error("the path of a socket is too long: " + path);
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

/// Connects to a socket; -1 with errno if that fails: EAGAIN if its process is stopped and the
/// queue of connections stays full. `flags` can be SOCK_NONBLOCK.
int connect_to(const usage::Folder& directory, const std::string& name, int flags = 0) {
    const sockaddr_un address = address_of(directory.short_path(name));
    const timeval limit{.tv_sec = GRACE_MS / 1000, .tv_usec = 0};
    Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
    if (socket.get() < 0 ||
        ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0 ||
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return -1;
    }
    return socket.release();
}

ucred peer_of(int socket) noexcept {
    ucred peer{};
    socklen_t length = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
        return {-1, static_cast<uid_t>(-1), static_cast<gid_t>(-1)};
    }
    return peer;
}

/// Returns the process of a socket's name, 0 if it is not one.
pid_t process_of(std::string_view name) {
    pid_t process = 0;
    if (!name.ends_with(SUFFIX)) {
        return 0;
    }
    name.remove_suffix(SUFFIX.size());
    const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), process);
    return failure == std::errc{} && end == name.data() + name.size() && process > 0 ? process : 0;
}

/// Removes the sockets of processes that ended without doing so.
void sweep(const usage::Folder& directory) {
    const int copy = ::openat(directory.descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const auto close_folder = [](DIR* folder) { ::closedir(folder); };
    const std::unique_ptr<DIR, decltype(close_folder)> folder(copy < 0 ? nullptr
                                                                       : ::fdopendir(copy));
    if (folder == nullptr) {
        return;
    }
    while (const dirent* entry = ::readdir(folder.get())) {
        const pid_t process = process_of(entry->d_name);
        if (process == 0 || ::kill(process, 0) == 0 || errno != ESRCH) {
            continue;
        }
        // It may live in a container that shares the folder but not the numbers.
        const Descriptor socket(connect_to(directory, entry->d_name, SOCK_NONBLOCK));
        if (socket.get() < 0 && errno == ECONNREFUSED) {
            ::unlinkat(directory.descriptor(), entry->d_name, 0);
        }
    }
}

[[noreturn]] void refuse_gone(pid_t process) {
    fail(CUDA_ERROR_INVALID_VALUE, "there is no process " + std::to_string(process));
}

[[noreturn]] void refuse_silent() {
    fail(CUDA_ERROR_NOT_READY, "the process does not answer; is it stopped?");
}

/// Returns the user of a process; throws INVALID_VALUE if it is gone or we have no right to it.
uid_t owner_of(pid_t process) {
    const std::string folder = "/proc/" + std::to_string(process);
    struct stat status{};
    if (::stat(folder.c_str(), &status) != 0) {
        refuse_gone(process);
    }
    std::ifstream file(folder + "/stat");
    std::string line;
    std::getline(file, line);
    // The name stands in parentheses and may contain any character; the state follows it.
    const std::size_t name_end = line.rfind(')');
    if (name_end != std::string::npos && name_end + 2 < line.size() &&
        (line[name_end + 2] == 'Z' || line[name_end + 2] == 'X')) {
        refuse_gone(process); // it has ended; its parent has not noticed
    }
    if (::geteuid() != 0 && status.st_uid != ::geteuid()) {
        fail(CUDA_ERROR_INVALID_VALUE, "process " + std::to_string(process) +
                                           " belongs to another user; only that user and root can "
                                           "checkpoint it");
    }
    return status.st_uid;
}

/// Connects to a process and makes sure that it is the right one.
int connect_to_process(pid_t process) {
    const uid_t owner = owner_of(process);
    const auto refuse = [&](const std::string& why) {
        fail(CUDA_ERROR_NOT_INITIALIZED,
             "process " + std::to_string(process) + " has no context of the emulated device" + why);
    };
    const usage::Folder folder(owner);
    if (folder.descriptor() < 0) {
        refuse(": " + folder.problem());
    }
    Descriptor connected(connect_to(folder, socket_name(process)));
    if (connected.get() < 0) {
        if (errno == EAGAIN) {
            refuse_silent();
        }
        refuse("");
    }
    const ucred peer = peer_of(connected.get());
    if (peer.pid != process || peer.uid != owner) {
        refuse(": another process uses its name");
    }
    return connected.release();
}

void wait_for_answer(int socket, const ControlRequest& request) {
    if (request.command != ControlCommand::Lock || request.timeout_ms == 0) {
        return;
    }
    // The process itself minds the time; one that is stopped cannot.
    pollfd waited{socket, POLLIN, 0};
    constexpr std::int64_t longest = 0x7FFF'FFFF;
    const auto limit =
        static_cast<int>(std::min(std::int64_t{request.timeout_ms} + GRACE_MS, longest));
    int ready = 0;
    do {
        ready = ::poll(&waited, 1, limit);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) {
        refuse_silent();
    }
}

} // namespace

ControlAnswer ask_process(pid_t process, const ControlRequest& request) {
    require(process > 0, "a process has a positive number");
    require(request.pairs.size() <= MAX_PAIRS, "more pairs of devices than a machine has devices");
    const Descriptor socket(connect_to_process(process));
    std::vector<std::byte> packet(sizeof(RequestHeader) +
                                  request.pairs.size() * sizeof(CUcheckpointGpuPair));
    const RequestHeader header{CONTROL_MAGIC, CONTROL_VERSION,
                               static_cast<std::uint32_t>(request.command), request.timeout_ms,
                               static_cast<std::uint32_t>(request.pairs.size())};
    std::memcpy(packet.data(), &header, sizeof header);
    if (!request.pairs.empty()) {
        std::memcpy(packet.data() + sizeof header, request.pairs.data(),
                    packet.size() - sizeof header);
    }
    AnswerPacket answer;
    ssize_t length = -1;
    if (::send(socket.get(), packet.data(), packet.size(), MSG_NOSIGNAL) ==
        static_cast<ssize_t>(packet.size())) {
        wait_for_answer(socket.get(), request);
        do {
            length = ::recv(socket.get(), &answer, sizeof answer, 0);
        } while (length < 0 && errno == EINTR);
    }
    if (length <= 0) {
        fail(CUDA_ERROR_INVALID_VALUE,
             "process " + std::to_string(process) + " ended before it answered");
    }
    if (length != static_cast<ssize_t>(sizeof answer) || answer.magic != CONTROL_MAGIC ||
        answer.version != CONTROL_VERSION) {
        fail(CUDA_ERROR_NOT_SUPPORTED,
             "process " + std::to_string(process) + " uses another version of the emulated device");
    }
    answer.message.back() = '\0';
    return {static_cast<CUresult>(answer.result), static_cast<CUprocessState>(answer.state),
            answer.thread, answer.message.data()};
}

void ControlSocket::listen() {
    folder_.emplace();
    if (folder_->descriptor() < 0) {
        throw std::runtime_error(folder_->problem());
    }
    sweep(*folder_);
    name_ = socket_name(::getpid());
    const sockaddr_un address = address_of(folder_->short_path(name_));
    // Whoever had our number before us is gone.
    ::unlinkat(folder_->descriptor(), name_.c_str(), 0);
    Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket.get() < 0 ||
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket.get(), BACKLOG) != 0) {
        throw std::runtime_error("no socket could be made in " + folder_->path() + ": " +
                                 std::strerror(errno));
    }
    descriptor_ = socket.release();
}

void ControlSocket::withdraw() noexcept {
    if (descriptor_ >= 0) {
        ::unlinkat(folder_->descriptor(), name_.c_str(), 0);
    }
}

int ControlSocket::accept() const noexcept {
    Descriptor connection(::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.get() < 0) {
        return -1;
    }
    const uid_t user = peer_of(connection.get()).uid;
    return user == ::geteuid() || user == 0 ? connection.release() : -1;
}

std::optional<ControlRequest> ControlSocket::receive(int connection) {
    std::array<std::byte, LARGEST_REQUEST> packet;
    const ssize_t length = ::recv(connection, packet.data(), packet.size(), MSG_TRUNC);
    RequestHeader header;
    if (length < static_cast<ssize_t>(sizeof header) ||
        length > static_cast<ssize_t>(packet.size())) {
        return std::nullopt;
    }
    std::memcpy(&header, packet.data(), sizeof header);
    const auto first = static_cast<std::uint32_t>(ControlCommand::GetState);
    const auto last = static_cast<std::uint32_t>(ControlCommand::Unlock);
    if (header.magic != CONTROL_MAGIC || header.version != CONTROL_VERSION ||
        header.command < first || header.command > last || header.pair_count > MAX_PAIRS ||
        static_cast<std::size_t>(length) !=
            sizeof header + header.pair_count * sizeof(CUcheckpointGpuPair)) {
        return std::nullopt;
    }
    ControlRequest request{static_cast<ControlCommand>(header.command), header.timeout_ms, {}};
    request.pairs.resize(header.pair_count);
    if (header.pair_count != 0) {
        std::memcpy(request.pairs.data(), packet.data() + sizeof header,
                    header.pair_count * sizeof(CUcheckpointGpuPair));
    }
    return request;
}

bool ControlSocket::send(int connection, const ControlAnswer& answer) noexcept {
    AnswerPacket packet;
    packet.magic = CONTROL_MAGIC;
    packet.version = CONTROL_VERSION;
    packet.result = answer.result;
    packet.state = answer.state;
    packet.thread = answer.thread;
    const std::size_t length = std::min(answer.message.size(), packet.message.size() - 1);
    std::memcpy(packet.message.data(), answer.message.data(), length);
    return ::send(connection, &packet, sizeof packet, MSG_NOSIGNAL) ==
           static_cast<ssize_t>(sizeof packet);
}

} // namespace cuprum::emulator
