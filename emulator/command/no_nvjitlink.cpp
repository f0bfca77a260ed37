// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// An empty libnvJitLink.so.13, for `cuprum-emulator run --driver-linker`.
//
// nvJitLink produces machine code. Libraries that prefer it to the driver's linker (Numba,
// cuda.core) look up its functions and use the driver if there are none. The emulated driver links
// PTX.

extern "C" __attribute__((visibility("default"))) int cuprumNoNvJitLink() {
    return 0;
}
