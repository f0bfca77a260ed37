// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Compiled twice: with NVIDIA's header if CUPRUM_NVIDIA_HEADER is defined, else with ours.

#include "table.hpp"

#ifdef CUPRUM_NVIDIA_HEADER
// Keep nvml.h from renaming the first version of a function to the newest one.
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>
#define FACTS nvidia_facts
#define FUNCTION_TYPE(name) decltype(::name)
#else
#include <nvml/nvml.hpp>
using namespace nvml_abi;
#define FACTS our_facts
#define FUNCTION_TYPE(name) functions::name
#endif

std::vector<Fact> FACTS() {
    std::vector<Fact> facts;
    // An enumeration may be signed on one side only; 32 bits decide.
    const auto add_value = [&](const char* name, auto value) {
        const auto bits = static_cast<unsigned long long>(value);
        facts.push_back({name, std::to_string(sizeof(value) > 4 ? bits : bits & 0xffffffffU)});
    };
#define CONSTANT(name) add_value(#name, name);
#define TYPE(name)                                                                                 \
    facts.push_back({#name, describe<name>() + " aligned to " + std::to_string(alignof(name))});
#define FIELD(structure, field)                                                                    \
    facts.push_back({#structure "." #field, describe<decltype(structure::field)>() + " at " +      \
                                                std::to_string(offsetof(structure, field))});
#define FUNCTION(name) facts.push_back({#name, Signature<FUNCTION_TYPE(name)>::text()});
#include "names.def"
    return facts;
}
