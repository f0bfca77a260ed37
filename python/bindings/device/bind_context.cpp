// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/context_flags.hpp"
#include "device/device_objects.hpp"
#include "stream/stream_objects.hpp"
#include "support/choices.hpp"
#include "support/class.hpp"
#include "support/collection.hpp"
#include "support/compatibility.hpp"
#include "support/waiting.hpp"

#include <cuprum/context.hpp>
#include <cuprum/context_settings.hpp>
#include <cuprum/detail/access.hpp>
#include <cuprum/device_resources.hpp>

#include <map>

namespace cuprum::python {

namespace {

void bind_making(Class<PyContext>& type);
void bind_settings(Class<PyContext>& type);
void bind_current(nb::module_& module, Class<PyContext>& type);
[[nodiscard]] std::uintptr_t address(const Context& context);
[[nodiscard]] nb::object create_stream(const PyContext& self, nb::handle options);
void close(PyContext& self);

} // namespace

void bind_context(nb::module_& module) {
    Class<PyContext> type(module, "Context", nb::is_weak_referenceable());
    type.refuse_construction("Context objects cannot be instantiated directly. Use "
                             "Device.context, Device.create_context() or "
                             "Context.create()");
    type.property("handle", [](const PyContext& self) -> nb::object {
        return self.is_closed() ? nb::none() : nb::object(nb::int_(address(self)));
    });
    type.property("device", [](const PyContext& self) { return device_object(self.device()); });
    type.property("is_closed", &PyContext::is_closed);
    type.property("is_primary", &PyContext::is_primary);
    type.property("is_green",
                  [](const PyContext& self) { return !self.is_closed() && self.is_green(); });
    type.property("id", &PyContext::id, RELEASES_GIL);
    type.property("resources", [](const PyContext& self) {
        if (self.is_closed()) {
            raise_error(PyExc_RuntimeError, "Cannot query resources of a closed Context");
        }
        return make<DeviceResources>(self.resources());
    });
    bind_making(type);
    bind_settings(type);
    bind_current(module, type);
    type.method("sync", [](const PyContext& self) { sync_with_signals(self); });
    type.method<close>("close");
    type.method("__eq__", [](const PyContext& self, const PyContext& other) {
        return static_cast<const Context&>(self) == static_cast<const Context&>(other);
    });
    type.method("__hash__", [](const PyContext& self) {
        return std::hash<std::uintptr_t>{}(self.is_closed() ? 0 : address(self));
    });
    type.method("__repr__", [](const PyContext& self) -> std::string {
        return self.is_closed() ? "<Context closed>"
                                : "<Context handle=" + hex_text(address(self)) +
                                      " device=" + std::to_string(self.device().ordinal()) + ">";
    });
}

// ---- one object per context that is not a primary one ------------------------------------------

namespace {

nb::ft_mutex known_mutex;

// Weak references, by handle. Primary contexts are not entered: objects that name one are all
// alike.
std::map<CUcontext, nb::object>& known_objects() {
    static auto* only = new std::map<CUcontext, nb::object>; // outlives Python
    return *only;
}

[[nodiscard]] nb::object known_object(const Context& context) {
    const auto place = known_objects().find(context.handle());
    if (place == known_objects().end()) {
        return {};
    }
    nb::object object = place->second();
    const PyContext* held = object.is_none() ? nullptr : get_if<PyContext>(object);
    const bool is_same =
        held != nullptr && detail::Access::state(*held) == detail::Access::state(context);
    return is_same ? object : nb::object();
}

} // namespace

nb::object context_object(Context context) {
    if (context.is_primary()) {
        return make<PyContext>(std::move(context));
    }
    const nb::ft_lock_guard lock(known_mutex);
    nb::object object = known_object(context);
    if (!object.is_valid()) {
        std::erase_if(known_objects(), [](const auto& item) { return item.second().is_none(); });
        const CUcontext handle = context.handle();
        object = make<PyContext>(std::move(context));
        known_objects()[handle] = nb::steal(PyWeakref_NewRef(object.ptr(), nullptr));
    }
    return object;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_making(Class<PyContext>& type) {
    type.static_method("create", [](const Device& home, const nb::kwargs& flags) {
        const ContextFlags how = context_flags(flags);
        auto context = without_gil([&] { return Context::create(home, how); });
        return context_object(std::move(context));
    });
    type.method<create_stream>("create_stream");
    type.method("record", [](const PyContext& self, const PyEvent& event) {
        const nb::gil_scoped_release unlocked;
        self.record(event);
    });
    type.method("wait", [](const PyContext& self, const PyEvent& event) {
        const nb::gil_scoped_release unlocked;
        self.wait(event);
    });
}

void bind_settings(Class<PyContext>& type) {
    type.method("get_limit", [](const PyContext& self, nb::handle limit) {
        const Limit which = LIMITS.parse(limit, "limit");
        const nb::gil_scoped_release unlocked;
        return self.limit(which);
    });
    type.method("set_limit", [](const PyContext& self, nb::handle limit, std::size_t wanted) {
        const Limit which = LIMITS.parse(limit, "limit");
        const nb::gil_scoped_release unlocked;
        self.set_limit(which, wanted);
    });
    type.property(
        "cache_config",
        [](const PyContext& self) {
            const CacheConfig config = without_gil([&] { return self.cache_config(); });
            return CACHE_CONFIGS.member(config);
        },
        [](const PyContext& self, nb::handle config) {
            const CacheConfig wanted = CACHE_CONFIGS.parse(config, "cache_config");
            const nb::gil_scoped_release unlocked;
            self.set_cache_config(wanted);
        });
    type.property("flags", [](const PyContext& self) {
        const ContextFlags flags = without_gil([&] { return self.flags(); });
        return context_flags_tuple(flags);
    });
    type.method("set_flags", [](const PyContext& self, const nb::kwargs& flags) {
        const ContextFlags wanted = context_flags(flags);
        const nb::gil_scoped_release unlocked;
        self.set_flags(wanted);
    });
    type.method<&PyContext::reset_persisting_l2_cache>("reset_persisting_l2_cache", RELEASES_GIL);
}

/// Makes a context current for a ``with`` block.
struct PyCurrentContext {
    nb::object context; // a Context
    std::optional<CurrentContext> guard;
};

void enter(PyCurrentContext& self) {
    if (self.guard) {
        raise_error(PyExc_RuntimeError, "this guard is entered already; call as_current() again");
    }
    const PyContext& context = *get_if<PyContext>(self.context);
    const nb::gil_scoped_release unlocked;
    self.guard.emplace(context);
}

void bind_current(nb::module_& module, Class<PyContext>& type) {
    Class<PyCurrentContext> guard(
        module, "CurrentContext", nb::is_weak_referenceable(),
        nb::type_slots(MemberSlots<PyCurrentContext, &PyCurrentContext::context>::slots));
    guard.method("__enter__", [](PyCurrentContext& self) {
        enter(self);
        return self.context;
    });
    guard.method("__exit__", [](PyCurrentContext& self, const nb::args&) { self.guard.reset(); });
    type.method("as_current",
                [](nb::handle_t<PyContext> self) { return current_context_guard(self); });
    type.static_method("current", []() -> nb::object {
        auto current = [] {
            const nb::gil_scoped_release unlocked;
            return Context::current();
        }();
        return current ? context_object(std::move(*current)) : nb::none();
    });
    type.method<&PyContext::push>("push", RELEASES_GIL);
    type.static_method("pop", [] {
        auto popped = [] {
            const nb::gil_scoped_release unlocked;
            return Context::pop();
        }();
        return context_object(std::move(popped));
    });
}

std::uintptr_t address(const Context& context) {
    return reinterpret_cast<std::uintptr_t>(context.handle());
}

nb::object create_stream(const PyContext& self, nb::handle options) {
    if (compatibility::creates_streams_in_green_contexts_only() && !self.is_green()) {
        raise_error(PyExc_RuntimeError,
                    "Context.create_stream is only supported on green contexts; use "
                    "Device.create_stream");
    }
    const StreamOptions how = stream_options(options);
    auto stream = without_gil([&] { return Stream::create(self, how); });
    return make<PyStream>(std::move(stream));
}

void close(PyContext& self) {
    if (self.is_closed()) {
        return;
    }
    if (const auto current = Context::current(); current && *current == self) {
        raise_error(PyExc_RuntimeError, "a context cannot be closed while it is current on this "
                                        "thread; make another one current first");
    }
    self.drop();
}

} // namespace

nb::object current_context_guard(nb::handle context) {
    return make<PyCurrentContext>(nb::borrow(context), std::nullopt);
}

ContextFlags context_flags(const nb::kwargs& given) {
    ContextFlags flags;
    for (const auto& [key, value] : given) {
        const std::string name = text_argument(key, "the name of a flag");
        if (name == "wait") {
            flags.wait = HOST_WAITS.parse(value, "wait");
            continue;
        }
        bool* flag = name == "map_host"                 ? &flags.map_host
                     : name == "resize_local_memory"    ? &flags.resize_local_memory
                     : name == "coredump_on_error"      ? &flags.coredump_on_error
                     : name == "user_coredump"          ? &flags.user_coredump
                     : name == "sync_memory_operations" ? &flags.sync_memory_operations
                                                        : nullptr;
        if (flag == nullptr) {
            raise_error(PyExc_TypeError,
                        "there is no flag '" + name +
                            "', expected wait, map_host, resize_local_memory, coredump_on_error, "
                            "user_coredump or sync_memory_operations");
        }
        *flag = flag_argument(value, false);
    }
    return flags;
}

nb::object context_flags_tuple(const ContextFlags& flags) {
    return nb::module_::import_("cuprum._types")
        .attr("ContextFlags")(HOST_WAITS.member(flags.wait), flags.map_host,
                              flags.resize_local_memory, flags.coredump_on_error,
                              flags.user_coredump, flags.sync_memory_operations);
}

} // namespace cuprum::python
