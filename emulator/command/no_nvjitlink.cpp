// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A libnvJitLink.so.13 with nothing in it, for `cuprum-emulator run --driver-linker`.
//
// nvJitLink makes machine code. Libraries that prefer it to the driver's linker (Numba, cuda.core)
// look for its functions and turn to the driver when there are none; the emulated driver links PTX.

extern "C" __attribute__((visibility("default"))) int cuprumNoNvJitLink() {
    return 0;
}
