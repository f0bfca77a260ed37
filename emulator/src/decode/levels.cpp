// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Chooses the instruction-set level of the handlers, once.
//
// The build decides which levels a library contains by the objects that it links
// (CUPRUM_EMULATOR_LEVELS). The symbols below are weak, so the address of a missing level is null.

#include "decode/levels.hpp"

#include "bytecode/forms.hpp"
#include "decode/decode.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cuprum::emulator {

#if defined(__x86_64__)
namespace isa_v2 {
[[gnu::weak]] extern const Selectors SELECTORS;
}

namespace isa_v3 {
[[gnu::weak]] extern const Selectors SELECTORS;
}

namespace isa_v4 {
[[gnu::weak]] extern const Selectors SELECTORS;
}
#else
namespace isa_generic {
extern const Selectors SELECTORS;
}
#endif

namespace {

struct Level {
    const char* name;
    const char* full_name;
    const Selectors* selectors; // null if the library does not contain the level
    bool is_supported;          // by this processor

    [[nodiscard]] bool is_available() const noexcept {
        return selectors != nullptr && is_supported;
    }
};

#if defined(__x86_64__)
// `__builtin_cpu_supports("x86-64-v3")` would answer this, but clang knows it only since
// version 18.
bool supports_v3() noexcept {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_MOVBE) == 0 ||
        (ecx & bit_F16C) == 0) {
        return false;
    }
    if (__get_cpuid(0x8000'0001, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_LZCNT) == 0) {
        return false;
    }
    // These answers include whether the system saves the registers.
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
           __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
}

bool supports_v4() noexcept {
    return supports_v3() && __builtin_cpu_supports("avx512f") != 0 &&
           __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
           __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}
#endif

/// Returns all levels, fastest first.
const auto& levels() noexcept {
#if defined(__x86_64__)
    __builtin_cpu_init();
    static const std::array all = {
        Level{"v4", "x86-64-v4", &isa_v4::SELECTORS, supports_v4()},
        Level{"v3", "x86-64-v3", &isa_v3::SELECTORS, supports_v3()},
        Level{"v2", "x86-64-v2", &isa_v2::SELECTORS, true},
    };
#else
    static const std::array all = {Level{"generic", "generic", &isa_generic::SELECTORS, true}};
#endif
    return all;
}

const Level& choose_level() noexcept {
    const char* const wanted = ::secure_getenv("CUPRUM_EMULATOR_ISA");
    const Level* best = nullptr;
    for (const Level& candidate : levels()) {
        if (!candidate.is_available()) {
            continue;
        }
        if (wanted != nullptr && std::strcmp(candidate.name, wanted) == 0) {
            return candidate;
        }
        best = best == nullptr ? &candidate : best;
    }
    if (best == nullptr) {
        std::fputs("cuprum: this build of the emulated device needs a newer processor; build it "
                   "with -DCUPRUM_EMULATOR_LEVELS=all\n",
                   stderr);
        std::abort();
    }
    return *best;
}

const Level& chosen_level() noexcept {
    static const Level& level = choose_level();
    return level;
}

/// The level that a test has requested instead.
const Selectors* forced_selectors = nullptr;

} // namespace

const Selectors& selectors() noexcept {
    return forced_selectors != nullptr ? *forced_selectors : *chosen_level().selectors;
}

bool use_selectors_of(const char* level) noexcept {
    if (level == nullptr) {
        forced_selectors = nullptr;
        return true;
    }
    const Selectors* const wanted = selectors_of(level);
    if (wanted != nullptr) {
        forced_selectors = wanted;
    }
    return wanted != nullptr;
}

const Selectors* selectors_of(const char* level) noexcept {
    const auto found =
        std::find_if(levels().begin(), levels().end(), [level](const Level& candidate) {
            return std::strcmp(candidate.name, level) == 0;
        });
    return found != levels().end() && found->is_available() ? found->selectors : nullptr;
}

const char* handler_level() noexcept {
    return chosen_level().full_name;
}

} // namespace cuprum::emulator
