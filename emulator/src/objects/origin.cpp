// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/origin.hpp"

#include <unistd.h>

#include <sys/syscall.h>

namespace cuprum::emulator {

thread_local constinit const char* CallScope::current_ = nullptr;
thread_local constinit bool HostCallScope::is_inside_ = false;

Origin Origin::here() noexcept {
    // The call for the number costs more than everything else here; a thread asks once.
    static thread_local constinit long number = 0;
    if (number == 0) {
        number = ::syscall(SYS_gettid);
    }
    return {CallScope::current_, number};
}

std::string Origin::to_text() const {
    return std::string(function == nullptr ? "the driver itself" : function) + ", host thread " +
           std::to_string(thread);
}

} // namespace cuprum::emulator
