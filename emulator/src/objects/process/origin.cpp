// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/origin.hpp"

#include "exec/engine.hpp"
#include "exec/watchdog.hpp"

#include <unistd.h>

#include <sys/syscall.h>

namespace cuprum::emulator {

thread_local constinit const char* CallScope::current_ = nullptr;
thread_local constinit bool HostCallScope::is_inside_ = false;

HostCallScope::HostCallScope() noexcept {
    is_inside_ = true;
    exec::Engine::instance().watchdog().add_host_function(1);
}

HostCallScope::~HostCallScope() {
    exec::Engine::instance().watchdog().add_host_function(-1);
    is_inside_ = false;
}

Origin Origin::here(std::uint8_t subject) noexcept {
    // Asking the system for the number is expensive, so each thread asks once.
    static thread_local constinit long number = 0;
    if (number == 0) {
        number = ::syscall(SYS_gettid);
    }
    return {CallScope::current_, number, places::here(subject)};
}

std::string Origin::to_text(std::string_view indent) const {
    return std::string(function == nullptr ? "the driver itself" : function) + ", host thread " +
           std::to_string(thread) +
           (place == nullptr ? std::string{} : places::to_text(*place, indent));
}

} // namespace cuprum::emulator
