// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A second process that uses the emulated device, and the messages between the two processes. Each
// request has one answer. They use a socket that can also carry file descriptors.

#pragma once

#include <cuda.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>

namespace cuprum::emulator::test {

/// What the peer must do, with the parts of the message that it uses.
enum class Request : std::uint32_t {
    ImportPool,       // descriptor
    ImportPointer,    // data
    ImportPhysical,   // descriptor, value: bytes; maps it
    OpenMemory,       // data
    OpenEvent,        // data
    Read,             // returns the first word of the memory
    Fill,             // value: fills the first 1024 words with it and waits
    Free,             // frees the imported pointer
    CloseMemory,      // undoes OpenMemory
    WaitThenFill,     // value: fills in a stream after the event; does not wait
    Synchronize,      // waits for the stream
    QueryEvent,       //
    RecordBehindGate, // records the event in a stream that a host function blocks
    OpenGate,         // lets that host function return
    MakePool,         // returns a descriptor; value: fills an allocation with it
    ExportPointer,    // returns data of that allocation
    MakeMemory,       // returns data of memory from cuMemAlloc
    MakeEvent,        // returns data of an event
    AllocateFromPool, // tries to allocate from the imported pool
    Allocate,         // value: fills memory from cuMemAlloc with it; returns its address
    AllocateAsync,    // the same with cuMemAllocAsync
    MapMemory,        // the same with cuMemCreate
    BlockStream,      // blocks the stream with a host function, until OpenGate
    CallInHost,       // makes a host function call the driver; returns the result of that call
    GetUuid,          // returns data: the UUID of the current device
    GetFreeMemory,    // returns the free bytes of the current device
    Fork,             // forks a child that waits until it is killed; returns its number
    Leave,            // exits normally
};

/// One request or one answer.
struct Message {
    Request request{};
    CUresult result = CUDA_SUCCESS;
    std::uint64_t value = 0;
    std::array<char, 64> data{};
    int descriptor = -1; // set by the receiver
};

constexpr int PEER_SOCKET = 3; // the number of the peer's end of the socket

inline bool send_message(int socket, const Message& message, int descriptor = -1) {
    iovec part{const_cast<Message*>(&message), sizeof message};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (descriptor >= 0) {
        header.msg_control = control;
        header.msg_controllen = sizeof control;
        cmsghdr* rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
    }
    return ::sendmsg(socket, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof message);
}

inline bool receive_message(int socket, Message& message) {
    iovec part{&message, sizeof message};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    if (::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_WAITALL) !=
        static_cast<ssize_t>(sizeof message)) {
        return false;
    }
    message.descriptor = -1;
    if (const cmsghdr* rights = CMSG_FIRSTHDR(&header);
        rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
        std::memcpy(&message.descriptor, CMSG_DATA(rights), sizeof(int));
    }
    return true;
}

/// A running peer. The destructor kills it.
class Peer {
public:
    Peer() {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
            throw std::runtime_error("socketpair failed");
        }
        socket_ = ends[0];
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], PEER_SOCKET);
        std::string program = CUPRUM_EMULATOR_PEER;
        char* arguments[] = {program.data(), nullptr};
        const int failure =
            ::posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
        if (failure != 0) {
            throw std::runtime_error("could not start " + program);
        }
    }

    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    ~Peer() {
        kill();
        ::close(socket_);
    }

    /// Sends a request and returns the answer.
    Message ask(Request request, std::uint64_t value = 0, const void* data = nullptr,
                int descriptor = -1) {
        send(request, value, data, descriptor);
        return receive();
    }

    /// Sends a request. The answer must be received later.
    void send(Request request, std::uint64_t value = 0, const void* data = nullptr,
              int descriptor = -1) {
        Message message;
        message.request = request;
        message.value = value;
        if (data != nullptr) {
            std::memcpy(message.data.data(), data, message.data.size());
        }
        if (!send_message(socket_, message, descriptor)) {
            throw std::runtime_error("the peer is gone");
        }
    }

    /// Waits for the answer to a request that was sent.
    Message receive() {
        Message message;
        if (!receive_message(socket_, message)) {
            throw std::runtime_error("the peer is gone");
        }
        return message;
    }

    /// Returns whether an answer comes within a time.
    [[nodiscard]] bool answers_within(int milliseconds) const {
        pollfd waited{socket_, POLLIN, 0};
        return ::poll(&waited, 1, milliseconds) == 1;
    }

    /// Kills the peer and waits until it has ended.
    void kill() {
        if (process_ > 0) {
            ::kill(process_, SIGKILL);
            (void)wait();
        }
    }

    /// Waits until the peer ends and returns its status.
    int wait() {
        int status = 0;
        ::waitpid(process_, &status, 0);
        process_ = -1;
        return status;
    }

    [[nodiscard]] pid_t process() const noexcept { return process_; }

private:
    int socket_ = -1;
    pid_t process_ = -1;
};

} // namespace cuprum::emulator::test
