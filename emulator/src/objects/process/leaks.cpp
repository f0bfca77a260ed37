// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/leaks.hpp"

#include "objects/code/module.hpp"
#include "objects/devices/context.hpp"
#include "objects/graphs/graph.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/memory/pool.hpp"
#include "objects/process/handle_table.hpp"
#include "objects/textures/array.hpp"
#include "objects/textures/image_object.hpp"

#include <array>
#include <sstream>
#include <string_view>
#include <vector>

namespace cuprum::emulator {

namespace {

constexpr std::string_view PLACE_INDENT = "    ";

struct NamedKind {
    HandleKind kind;
    const char* name;
};

/// The kinds of objects that programs create and destroy. Functions and kernels are destroyed with
/// their module.
constexpr std::array KINDS{
    NamedKind{HandleKind::Context, "context"},
    NamedKind{HandleKind::GreenContext, "green context"},
    NamedKind{HandleKind::Stream, "stream"},
    NamedKind{HandleKind::Event, "event"},
    NamedKind{HandleKind::Pool, "memory pool"},
    NamedKind{HandleKind::Physical, "physical memory"},
    NamedKind{HandleKind::Module, "module"},
    NamedKind{HandleKind::Library, "library"},
    NamedKind{HandleKind::Linker, "linker"},
    NamedKind{HandleKind::Graph, "graph"},
    NamedKind{HandleKind::GraphExecutable, "executable graph"},
    NamedKind{HandleKind::UserObject, "user object"},
    NamedKind{HandleKind::Array, "array"},
    NamedKind{HandleKind::MipmappedArray, "mipmapped array"},
    NamedKind{HandleKind::GraphicsResource, "graphics resource"},
    NamedKind{HandleKind::ExternalMemory, "external memory"},
    NamedKind{HandleKind::ExternalSemaphore, "external semaphore"},
};

bool is_of_user(HandleKind kind, const Object& object) {
    switch (kind) {
    case HandleKind::Context:
        return !static_cast<const Context&>(object).is_primary();
    case HandleKind::Graph:
        return static_cast<const Graph&>(object).owner() == nullptr;
    case HandleKind::Pool:
        return !static_cast<const Pool&>(object).is_default();
    case HandleKind::Array:
        return static_cast<const Array&>(object).role() == Array::Role::Whole;
    case HandleKind::Module:
        return !static_cast<const Module&>(object).is_of_library();
    default:
        return true;
    }
}

} // namespace

std::string list_leaks() {
    std::ostringstream out;
    std::size_t count = 0;
    for (const auto& [kind, name] : KINDS) {
        for (const auto& object : HandleTable::instance().all(kind)) {
            if (is_of_user(kind, *object)) {
                ++count;
                out << "\n  " << name << " 0x" << std::hex << object->handle_value() << std::dec
                    << ", made by " << object->origin().to_text(PLACE_INDENT);
            }
        }
    }
    for (const auto& object : ImageObjects::instance().all()) {
        ++count;
        out << "\n  " << (object->use == ImageUse::Texture ? "texture" : "surface") << " object 0x"
            << std::hex << object->handle << std::dec << ", made by "
            << object->made_by.to_text(PLACE_INDENT);
    }
    for (const auto& allocation : Allocations::instance().all()) {
        if (allocation->name.empty() && allocation->kind != MemoryKind::Heap) {
            ++count;
            out << "\n  " << allocation->to_text();
        }
    }
    return count == 0 ? std::string{}
                      : std::to_string(count) + (count == 1 ? " object was" : " objects were") +
                            " not given back:" + out.str();
}

} // namespace cuprum::emulator
