// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "device/context_flags.hpp"
#include "device/device_objects.hpp"
#include "stream/stream_objects.hpp"
#include "support/choices.hpp"
#include "support/collection.hpp"
#include "support/compatibility.hpp"
#include "support/python_objects.hpp"
#include "support/waiting.hpp"

#include <cuprum/context.hpp>
#include <cuprum/context_settings.hpp>
#include <cuprum/detail/access.hpp>
#include <cuprum/device.hpp>
#include <cuprum/device_resources.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

namespace cuprum::python {

using namespace nb::literals;

namespace {

void bind_making(nb::class_<PyContext>& type);
void bind_settings(nb::class_<PyContext>& type);
void bind_current(nb::module_& module, nb::class_<PyContext>& type);
[[nodiscard]] std::uintptr_t address(const Context& context);
[[nodiscard]] nb::object create_stream(const PyContext& self, nb::handle options);
void close(PyContext& self);

} // namespace

void bind_context(nb::module_& module) {
    nb::class_<PyContext> type(module, "Context", nb::is_weak_referenceable(),
                               R"(A context of one device.

Obtained from ``Device.context``, ``Stream.context`` or ``Event.context``, or made by
``Device.create_context`` and ``Context.create``.

Examples
--------
>>> context = device.context
>>> with context.as_current():
...     print(cuprum.Context.current() == context)
True)");
    note_type<PyContext>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, "Context objects cannot be instantiated directly. Use "
                                            "Device.context, Device.create_context() or "
                                            "Context.create()");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def_prop_ro(
        "handle",
        [](const PyContext& self) -> nb::object {
            return self.is_closed() ? nb::none() : nb::object(nb::int_(address(self)));
        },
        nb::sig("def handle(self) -> int | None"),
        "Return the driver's ``CUcontext`` as an int, or None once closed.");
    type.def_prop_ro(
        "device", [](const PyContext& self) { return device_object(self.device()); },
        nb::sig("def device(self) -> Device"), "Return the device it belongs to.");
    type.def_prop_ro("is_closed", &PyContext::is_closed, "Return whether ``close`` was called.");
    type.def_prop_ro("is_primary", &PyContext::is_primary,
                     "Return whether this is a device's primary context.");
    type.def_prop_ro(
        "is_green", [](const PyContext& self) { return !self.is_closed() && self.is_green(); },
        "Return whether this is a green context, one that has its own part of the device.");
    type.def_prop_ro("id", &PyContext::id, nb::call_guard<nb::gil_scoped_release>(),
                     "Return a number that no other context of this process ever has.");
    type.def_prop_ro(
        "resources",
        [](const PyContext& self) {
            if (self.is_closed()) {
                raise_error(PyExc_RuntimeError, "Cannot query resources of a closed Context");
            }
            return make<DeviceResources>(self.resources());
        },
        nb::sig("def resources(self) -> DeviceResources"),
        "Return the resources of this context: the whole device, or the part of a green context.");
    bind_making(type);
    bind_settings(type);
    bind_current(module, type);
    type.def(
        "sync", [](const PyContext& self) { sync_with_signals(self); },
        R"(Block until all work in this context is done.

Ctrl-C raises KeyboardInterrupt on the main thread; the work continues.

Raises
------
CUDAError
    If any of that work failed; the context is then unusable.)");
    type.def("close", close,
             R"(Release this object's share of the context. Calling it again does nothing.

Streams, events and buffers made in the context have shares too.

Raises
------
RuntimeError
    If the context is current on the calling thread.)");
    type.def(
        "__eq__",
        [](const PyContext& self, const PyContext& other) {
            return static_cast<const Context&>(self) == static_cast<const Context&>(other);
        },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__", [](const PyContext& self) {
        return std::hash<std::uintptr_t>{}(self.is_closed() ? 0 : address(self));
    });
    type.def("__repr__", [](const PyContext& self) -> std::string {
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

void bind_making(nb::class_<PyContext>& type) {
    type.def_static(
        "create",
        [](nb::handle device, const nb::kwargs& flags) {
            const Device home = device_argument(device, "device");
            const ContextFlags how = context_flags(flags);
            auto context = [&] {
                const nb::gil_scoped_release unlocked;
                return Context::create(home, how);
            }();
            return context_object(std::move(context));
        },
        "device"_a.none(), "flags"_a,
        nb::sig("def create(device: Device | int, **flags: object) -> Context"),
        R"(Create a context on a device, beside the primary one.

It does not become current. Most programs need none: ``Device.create_context`` makes green
contexts, and everything else works in the primary context.

Parameters
----------
device : Device or int
    Where it is made.
**flags
    As for ``set_flags``.

Returns
-------
Context
    The context. It is not made current.

Raises
------
TypeError
    If there is no such flag.
ValueError
    If there is no such device, or a flag has no such value.
CUDAError
    If the driver cannot create the context.)");
    type.def("create_stream", create_stream, "options"_a = nb::none(),
             nb::sig("def create_stream(self, options: cuprum._options.StreamOptions | dict | "
                     "None = None) -> Stream"),
             R"(Create a stream in this context.

Parameters
----------
options : StreamOptions or dict, optional
    How the stream is made; those of a green context must be non-blocking.

Returns
-------
Stream
    The stream.

Raises
------
ValueError
    If the priority is out of the device's range.)");
    type.def(
        "record",
        [](const PyContext& self, const PyEvent& event) {
            const nb::gil_scoped_release unlocked;
            self.record(event);
        },
        "event"_a, nb::sig("def record(self, event: Event) -> None"),
        R"(Record an event after all work enqueued in this context so far, on all streams.

Parameters
----------
event : Event
    Must belong to this context.

Raises
------
ClosedError
    If the context or the event is closed.
CUDAError
    If the event belongs to another context.)");
    type.def(
        "wait",
        [](const PyContext& self, const PyEvent& event) {
            const nb::gil_scoped_release unlocked;
            self.wait(event);
        },
        "event"_a, nb::sig("def wait(self, event: Event) -> None"),
        R"(Make later work of all streams of this context wait for an event.

Returns at once; only the device waits.

Parameters
----------
event : Event
    May belong to another context or another device.

Raises
------
ClosedError
    If the context or the event is closed.
CUDAError
    If the driver refuses the wait, as while a stream of the context is captured.)");
}

void bind_settings(nb::class_<PyContext>& type) {
    type.def(
        "get_limit",
        [](const PyContext& self, nb::handle limit) {
            const Limit which = LIMITS.parse(limit, "limit");
            const nb::gil_scoped_release unlocked;
            return self.limit(which);
        },
        "limit"_a, nb::sig("def get_limit(self, limit: cuprum.typing.LimitType | str) -> int"),
        R"(Return a limit of this context.

Parameters
----------
limit : LimitType or str
    Such as ``"stack_size"``, ``"printf_fifo_size"`` or ``"malloc_heap_size"``.

Returns
-------
int
    The current value.

Raises
------
ValueError
    If there is no such limit.)");
    type.def(
        "set_limit",
        [](const PyContext& self, nb::handle limit, nb::handle value) {
            const Limit which = LIMITS.parse(limit, "limit");
            const std::size_t wanted = size_argument(value, "value");
            const nb::gil_scoped_release unlocked;
            self.set_limit(which, wanted);
        },
        "limit"_a, "value"_a,
        nb::sig("def set_limit(self, limit: cuprum.typing.LimitType | str, value: int) -> None"),
        R"(Change a limit of this context; the driver may round the value up.

Parameters
----------
limit : LimitType or str
    Such as ``"stack_size"``, ``"printf_fifo_size"`` or ``"malloc_heap_size"``.
value : int
    The value to ask for, usually in bytes.

Raises
------
ValueError
    If there is no such limit, or the value is negative.)");
    type.def_prop_rw(
        "cache_config",
        [](const PyContext& self) {
            const CacheConfig config = [&] {
                const nb::gil_scoped_release unlocked;
                return self.cache_config();
            }();
            return CACHE_CONFIGS.member(config);
        },
        [](const PyContext& self, nb::handle config) {
            const CacheConfig wanted = CACHE_CONFIGS.parse(config, "cache_config");
            const nb::gil_scoped_release unlocked;
            self.set_cache_config(wanted);
        },
        nb::for_getter(nb::sig("def cache_config(self) -> cuprum.typing.CacheConfigType")),
        nb::for_setter(nb::sig("def cache_config(self, config: cuprum.typing.CacheConfigType | "
                               "str, /) -> None")),
        "Return the preferred split between L1 cache and shared memory.");
    type.def_prop_ro(
        "flags",
        [](const PyContext& self) {
            const ContextFlags flags = [&] {
                const nb::gil_scoped_release unlocked;
                return self.flags();
            }();
            return context_flags_tuple(flags);
        },
        nb::sig("def flags(self) -> cuprum._types.ContextFlags"),
        "Return the flags of the context, as a named tuple.");
    type.def(
        "set_flags",
        [](const PyContext& self, const nb::kwargs& flags) {
            const ContextFlags wanted = context_flags(flags);
            const nb::gil_scoped_release unlocked;
            self.set_flags(wanted);
        },
        nb::sig("def set_flags(self, **flags: object) -> None"),
        R"(Change the flags of the context. Flags that are not named become the default.

Parameters
----------
wait : HostWaitType or str
    How threads wait for the device: ``"auto"``, ``"spin"``, ``"yield"`` or ``"blocking"``.
map_host : bool
    Allow mapped pinned memory; always so on today's systems.
resize_local_memory : bool
    Keep local memory at its largest size so far.
coredump_on_error : bool
    Write a GPU core dump when a kernel fails.
user_coredump : bool
    Write one when asked for through a pipe.
sync_memory_operations : bool
    Make copies that may return early wait.

Raises
------
TypeError
    If there is no such flag.
ValueError
    If a flag has no such value.
ClosedError
    If the context is closed.
CUDAError
    If the driver refuses the flags.)");
    type.def("reset_persisting_l2_cache", &PyContext::reset_persisting_l2_cache,
             nb::call_guard<nb::gil_scoped_release>(),
             R"(Reset all persisting lines of the L2 cache to normal.

Raises
------
ClosedError
    If the context is closed.
CUDAError
    If the driver refuses it.)");
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

void bind_current(nb::module_& module, nb::class_<PyContext>& type) {
    nb::class_<PyCurrentContext> guard(
        module, "CurrentContext", nb::is_weak_referenceable(),
        nb::type_slots(MemberSlots<PyCurrentContext, &PyCurrentContext::context>::slots),
        R"(A context that is current in a ``with`` block, from ``as_current``.

Examples
--------
>>> with device.as_current():
...     print(cuprum.Context.current() == device.context)
True)");
    note_type<PyCurrentContext>(guard);
    guard.def(
        "__enter__",
        [](PyCurrentContext& self) {
            enter(self);
            return self.context;
        },
        nb::sig("def __enter__(self) -> Context"));
    guard.def(
        "__exit__", [](PyCurrentContext& self, const nb::args&) { self.guard.reset(); },
        nb::sig("def __exit__(self, *args: object) -> None"));
    type.def(
        "as_current", [](nb::handle_t<PyContext> self) { return current_context_guard(self); },
        nb::sig("def as_current(self) -> CurrentContext"),
        R"(Make this context current on the calling thread for a ``with`` block.

The previous context is restored at the end.

Returns
-------
CurrentContext
    A guard for a ``with`` statement. It restores the context that was current before.

Raises
------
ClosedError
    When the block begins, if the context is closed.)");
    type.def_static(
        "current",
        []() -> nb::object {
            auto current = [] {
                const nb::gil_scoped_release unlocked;
                return Context::current();
            }();
            return current ? context_object(std::move(*current)) : nb::none();
        },
        nb::sig("def current() -> Context | None"),
        R"(Return the context that is current on the calling thread, or None.

Returns
-------
Context or None
    The context, or None if the thread has no context.

Raises
------
LibraryNotFoundError
    If there is no driver. The text shows the places that were searched.
CUDAError
    If the driver cannot start.)");
    type.def("push", &PyContext::push, nb::call_guard<nb::gil_scoped_release>(),
             R"(Make this context current on the calling thread, on top of what is current.

Call ``pop`` for every push, or use ``as_current``.

Raises
------
ClosedError
    If the context is closed.)");
    type.def_static(
        "pop",
        [] {
            auto popped = [] {
                const nb::gil_scoped_release unlocked;
                return Context::pop();
            }();
            return context_object(std::move(popped));
        },
        nb::sig("def pop() -> Context"),
        R"(Remove the current context from the thread's stack and return it.

Returns
-------
Context
    The context that was removed.

Raises
------
CUDAError
    If no context is current on this thread.)");
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
    auto stream = [&] {
        const nb::gil_scoped_release unlocked;
        return Stream::create(self, how);
    }();
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
