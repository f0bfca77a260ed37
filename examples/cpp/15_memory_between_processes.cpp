// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Shares device memory with another process. The pool is sent as a file descriptor, the buffer as
// bytes.

#include <cuprum/cuprum.hpp>

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/wait.h>

namespace {

constexpr std::size_t BYTES = 256;

/// Sends a buffer's descriptor together with the file descriptor of its pool.
void send(int socket, const cuprum::IPCAllocationHandle& pool,
          const cuprum::IPCBufferDescriptor& buffer) {
    std::array<char, CMSG_SPACE(sizeof(int))> control{};
    iovec bytes{.iov_base = const_cast<std::byte*>(buffer.payload.data()),
                .iov_len = buffer.payload.size()};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int descriptor = pool.descriptor();
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(descriptor));
    if (sendmsg(socket, &message, 0) < 0) {
        throw std::runtime_error("the descriptor could not be sent");
    }
}

/// Receives what `send` sent.
cuprum::IPCAllocationHandle receive(int socket, cuprum::IPCBufferDescriptor& buffer) {
    std::array<char, CMSG_SPACE(sizeof(int))> control{};
    std::array<std::byte, cuprum::IPCBufferDescriptor::PAYLOAD_BYTES> payload{};
    iovec bytes{.iov_base = payload.data(), .iov_len = payload.size()};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (length < 0 || header == nullptr || header->cmsg_type != SCM_RIGHTS) {
        throw std::runtime_error("no descriptor arrived");
    }
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof(descriptor));
    // Received bytes are untrusted input: they are validated here, and again when they are used.
    buffer = cuprum::IPCBufferDescriptor::from_bytes(
        std::span(payload).first(static_cast<std::size_t>(length)), BYTES);
    return cuprum::IPCAllocationHandle::from_descriptor(descriptor);
}

int run_child(int socket) {
    const cuprum::Device device;
    const cuprum::CurrentContext current(device.primary_context());
    const cuprum::Stream stream = device.create_stream();
    cuprum::IPCBufferDescriptor descriptor;
    const auto handle = receive(socket, descriptor);
    const auto pool = cuprum::DeviceMemoryResource::from_allocation_handle(device, handle);
    const auto buffer = cuprum::Buffer::from_ipc_descriptor(*pool, descriptor, stream);
    buffer.fill(std::uint8_t{42}, stream);
    stream.sync();
    return buffer.is_mapped() ? 0 : 1;
}

int run_parent(int socket, pid_t child) {
    const cuprum::Device device;
    const cuprum::CurrentContext current(device.primary_context());
    const cuprum::Stream stream = device.create_stream();
    const auto pool =
        cuprum::DeviceMemoryResource::create(device, {.max_size = 4U << 20U, .ipc_enabled = true});
    const cuprum::Buffer buffer = pool->allocate(BYTES, stream);
    buffer.fill(std::uint8_t{1}, stream);
    stream.sync();
    send(socket, pool->allocation_handle(), buffer.ipc_descriptor());
    int status = 0;
    waitpid(child, &status, 0);
    std::array<std::uint8_t, BYTES> back{};
    buffer.copy_to_host(back, stream);
    stream.sync();
    std::printf("the child wrote %d\n", back[0]);
    return status == 0 && back.front() == 42 && back.back() == 42 ? 0 : 1;
}

} // namespace

int main() {
    std::array<int, 2> sockets{};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()) != 0) {
        return 1;
    }
    const pid_t child = fork(); // before the first use of CUDA, which does not work after a fork
    try {
        return child == 0 ? run_child(sockets[1]) : run_parent(sockets[0], child);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
