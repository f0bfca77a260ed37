// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Chooses the instruction-set level of the handlers, once.

#include "decode/decode.hpp"
#include "interp/handlers/forms.hpp"
#include "interp/handlers/level.hpp"

#include <cstdlib>
#include <cstring>

namespace cuprum::emulator {

// On x86-64 the handlers are built once per level, elsewhere once.
#if defined(__x86_64__)
namespace isa_v2 {
extern const Selectors SELECTORS;
}

namespace isa_v3 {
extern const Selectors SELECTORS;
}

namespace isa_v4 {
extern const Selectors SELECTORS;
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
    const Selectors* selectors;
    bool is_available;
};

const Level& chosen_level() noexcept {
#if defined(__x86_64__)
    __builtin_cpu_init();
    static const Level levels[] = {
        {"v4", "x86-64-v4", &isa_v4::SELECTORS, __builtin_cpu_supports("x86-64-v4") != 0},
        {"v3", "x86-64-v3", &isa_v3::SELECTORS, __builtin_cpu_supports("x86-64-v3") != 0},
        {"v2", "x86-64-v2", &isa_v2::SELECTORS, true},
    };
#else
    static const Level levels[] = {{"generic", "generic", &isa_generic::SELECTORS, true}};
#endif
    const char* const wanted = std::getenv("CUPRUM_EMULATOR_ISA");
    static const Level& level = [&]() -> const Level& {
        const Level* best = nullptr;
        for (const Level& candidate : levels) {
            if (!candidate.is_available) {
                continue;
            }
            if (wanted != nullptr && std::strcmp(candidate.name, wanted) == 0) {
                return candidate;
            }
            best = best == nullptr ? &candidate : best;
        }
        return *best;
    }();
    return level;
}

/// What a test asked for instead of the chosen level.
const Selectors* forced_selectors = nullptr;

} // namespace

const Selectors& selectors() noexcept {
    return forced_selectors != nullptr ? *forced_selectors : *chosen_level().selectors;
}

bool use_selectors_of(const char* level) noexcept {
    const Selectors* const wanted = selectors_of(level);
    if (wanted != nullptr) {
        forced_selectors = wanted;
    }
    return wanted != nullptr;
}

const Selectors* selectors_of(const char* level) noexcept {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (std::strcmp(level, "v4") == 0 && __builtin_cpu_supports("x86-64-v4")) {
        return &isa_v4::SELECTORS;
    }
    if (std::strcmp(level, "v3") == 0 && __builtin_cpu_supports("x86-64-v3")) {
        return &isa_v3::SELECTORS;
    }
    return std::strcmp(level, "v2") == 0 ? &isa_v2::SELECTORS : nullptr;
#else
    return std::strcmp(level, "generic") == 0 ? &isa_generic::SELECTORS : nullptr;
#endif
}

const char* handler_level() noexcept {
    return chosen_level().full_name;
}

} // namespace cuprum::emulator
