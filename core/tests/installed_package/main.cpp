// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/cuprum.hpp>

#include <cstdio>
#include <cstring>

/// Uses the library like a user's program. Prints its version and, without --without-device,
/// creates a stream and synchronises it.
int main(int count, char** arguments) {
    std::printf("cuprum %s\n", cuprum::version());
    if (count > 1 && std::strcmp(arguments[1], "--without-device") == 0) {
        return 0;
    }
    const auto devices = cuprum::Device::all();
    if (devices.empty()) {
        std::puts("no device");
        return 1;
    }
    auto stream = devices.front().create_stream();
    stream.sync();
    std::printf("%s, driver %s\n", devices.front().name().c_str(),
                cuprum::driver_description().c_str());
    return 0;
}
