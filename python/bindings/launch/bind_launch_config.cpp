// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "launch/kernel_objects.hpp"
#include "launch/launch_attributes.hpp"
#include "launch/launch_config.hpp"
#include "support/arguments.hpp"
#include "support/collection.hpp"
#include "support/fast_method.hpp"
#include "support/instances.hpp"
#include "support/python_objects.hpp"

#include <cuprum/kernel.hpp>
#include <cuprum/launch_config.hpp>

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

constexpr const char* SIGNATURE =
    "def __init__(self, grid: int | tuple[int, ...] | None = None, cluster: int | tuple[int, ...] "
    "| None = None, block: int | tuple[int, ...] | None = None, shmem_size: int | None = None, "
    "is_cooperative: bool = False, programmatic_stream_serialization: bool = False, *, priority: "
    "int | None = None, preferred_cluster: int | tuple[int, ...] | None = None, "
    "cluster_scheduling_policy: str | None = None, shared_memory_carveout: int | None = None, "
    "access_policy_window: cuprum._types.AccessPolicyWindow | dict | None = None, "
    "memory_sync_domain: str | None = None, memory_sync_domain_map: tuple[int, int] | None = None, "
    "programmatic_event: Event | tuple[Event, bool] | None = None, launch_completion_event: Event "
    "| None = None, nvlink_centric_scheduling: bool = False, portable_cluster_mode: str | None = "
    "None, shared_memory_mode: str | None = None, raw_attributes: dict[int, bytes] | None = None) "
    "-> None";

constexpr std::size_t PLAIN_COUNT = 6; // the fields before those of EXTRA_FIELDS
constexpr std::size_t FIELD_COUNT = PLAIN_COUNT + EXTRA_FIELDS.size();

fast::ParameterList parameters; // of SIGNATURE
fast::UsualParameters<FIELD_COUNT> usual;

void bind_fields(nb::class_<PyLaunchConfig>& type);
void bind_extra_fields(nb::class_<PyLaunchConfig>& type);
void bind_factories(nb::class_<PyLaunchConfig>& type);
void construct(PyLaunchConfig* self, const nb::args& positional, const nb::kwargs& named);
[[nodiscard]] PyObject* call_type(PyObject* type, PyObject* const* values, std::size_t count,
                                  PyObject* keywords) noexcept;
[[nodiscard]] nb::object to_tuple(const Dim3& extents);
[[nodiscard]] nb::tuple plain_fields(const PyLaunchConfig& config);
[[nodiscard]] nb::object fields(const PyLaunchConfig& config);

} // namespace

void bind_launch_config(nb::module_& module) {
    static_cast<void>(fast::read_signature(SIGNATURE, parameters));
    parameters.method = "LaunchConfig"; // what programs call
    usual.take(parameters);
    nb::class_<PyLaunchConfig> type(
        module, "LaunchConfig", nb::is_weak_referenceable(), nb::pooled(),
        nb::type_slots(MemberSlots<PyLaunchConfig, &PyLaunchConfig::extras>::slots),
        R"(The shape and the attributes of a launch.

It is immutable: share it between threads, reuse it for many launches, use it as a key.

Parameters
----------
grid : int or tuple of int
    Blocks in up to three dimensions, or clusters if `cluster` is given.
cluster : int or tuple of int, optional
    Blocks per cluster. Needs compute capability 9.0 or later.
block : int or tuple of int
    Threads per block.
shmem_size : int, optional
    Dynamic shared memory per block, in bytes. More than 48 KiB needs no preparation.
is_cooperative : bool, optional
    All blocks are resident at once, so that the grid can synchronise.
programmatic_stream_serialization : bool, optional
    The kernel may start before the previous one on the stream has ended.
priority : int, optional
    Lower numbers run first. Without it, the stream's priority.
preferred_cluster : int or tuple of int, optional
    A multiple of `cluster`, used where it fits.
cluster_scheduling_policy : str, optional
    ``"default"``, ``"spread"`` or ``"load_balancing"``.
shared_memory_carveout : int, optional
    Percent of the L1 cache to use as shared memory; a hint.
access_policy_window : AccessPolicyWindow or dict, optional
    A range of memory and how the L2 cache treats the kernel's accesses to it.
memory_sync_domain : str, optional
    ``"default"`` or ``"remote"``: which memory barriers order the kernel's writes.
memory_sync_domain_map : tuple of int, optional
    The numbers of these two domains.
programmatic_event : Event or (Event, bool), optional
    An event without timing. Every block triggers it by an instruction or, with True, when it starts.
launch_completion_event : Event, optional
    An event without timing, recorded when all blocks have begun.
nvlink_centric_scheduling : bool, optional
    A hint that NVLink limits the kernel's speed.
portable_cluster_mode, shared_memory_mode : str, optional
    ``"default"``, ``"require_portable"`` or ``"allow_non_portable"``. Drivers from 13.1 on.
raw_attributes : dict of int to bytes, optional
    Further launch attributes by the driver's numbers, with up to 64 bytes of value.

Raises
------
ValueError
    If an extent is missing or not at least 1, or a value is out of its range.

Examples
--------
>>> config = cuprum.LaunchConfig(grid=(4, 2), block=64)
>>> config.grid
(4, 2, 1)
>>> cuprum.LaunchConfig.from_size(1000, block=256).grid
(4, 1, 1))");
    note_type<PyLaunchConfig>(type);
    type.def("__init__", construct, nb::sig(SIGNATURE));
    // Calls of the class itself take this way; derived classes come by __init__.
    TYPE<PyLaunchConfig>->tp_vectorcall = call_type;
    bind_fields(type);
    bind_extra_fields(type);
    bind_factories(type);
}

const PyLaunchConfig& config_argument(nb::handle config, nb::object& made) {
    if (const PyLaunchConfig* own = get_if<PyLaunchConfig>(config)) [[likely]] {
        return *own;
    }
    if (PyDict_Check(config.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    "config must be a LaunchConfig or a dict, got " + type_label(config));
    }
    made = nb::handle(reinterpret_cast<PyObject*>(TYPE<PyLaunchConfig>))(
        **nb::borrow<nb::dict>(config));
    return *payload<PyLaunchConfig>(made);
}

nb::object config_object(const LaunchConfig& config) {
    nb::dict keywords = extra_keywords(config);
    keywords["grid"] = to_tuple(config.grid);
    keywords["cluster"] = config.cluster ? to_tuple(*config.cluster) : nb::none();
    keywords["block"] = to_tuple(config.block);
    keywords["shmem_size"] = config.shmem_size;
    keywords["is_cooperative"] = config.is_cooperative;
    keywords["programmatic_stream_serialization"] = config.programmatic_stream_serialization;
    return nb::handle(reinterpret_cast<PyObject*>(TYPE<PyLaunchConfig>))(**keywords);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_fields(nb::class_<PyLaunchConfig>& type) {
    type.def_prop_ro(
        "grid", [](const PyLaunchConfig& self) { return to_tuple(self.core.grid); },
        nb::sig("def grid(self) -> tuple[int, int, int]"), "Return the grid's three extents.");
    type.def_prop_ro(
        "cluster",
        [](const PyLaunchConfig& self) -> nb::object {
            return self.core.cluster ? to_tuple(*self.core.cluster) : nb::none();
        },
        nb::sig("def cluster(self) -> tuple[int, int, int] | None"),
        "Return the cluster's three extents, or None.");
    type.def_prop_ro(
        "block", [](const PyLaunchConfig& self) { return to_tuple(self.core.block); },
        nb::sig("def block(self) -> tuple[int, int, int]"), "Return the block's three extents.");
    type.def_prop_ro(
        "shmem_size", [](const PyLaunchConfig& self) { return self.core.shmem_size; },
        "Return the dynamic shared memory per block, in bytes.");
    type.def_prop_ro(
        "is_cooperative", [](const PyLaunchConfig& self) { return self.core.is_cooperative; },
        "Return whether all blocks are resident at once.");
    type.def_prop_ro(
        "programmatic_stream_serialization",
        [](const PyLaunchConfig& self) { return self.core.programmatic_stream_serialization; },
        "Return whether the kernel may start before the previous one has ended.");
    type.def(
        "__eq__",
        [](const PyLaunchConfig& self, const PyLaunchConfig& other) {
            return self.core == other.core;
        },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__", [](const PyLaunchConfig& self) { return nb::hash(fields(self)); });
    type.def("__reduce__", [](const PyLaunchConfig& self) {
        const nb::object type = nb::borrow(reinterpret_cast<PyObject*>(TYPE<PyLaunchConfig>));
        if (!self.extras.is_valid()) {
            return nb::make_tuple(type, plain_fields(self));
        }
        const nb::object restore =
            nb::module_::import_("cuprum._pickling").attr("restore_launch_config");
        return nb::make_tuple(restore, nb::make_tuple(plain_fields(self), self.extras));
    });
    type.def("__repr__", [](const PyLaunchConfig& self) {
        nb::str text = nb::str("LaunchConfig(grid={}, cluster={}, block={}, shmem_size={}, "
                               "is_cooperative={}, programmatic_stream_serialization={}")
                           .format(*plain_fields(self));
        if (self.extras.is_valid()) {
            for (const auto [name, value] : nb::cast<nb::dict>(self.extras)) {
                text = nb::str("{}, {}={!r}").format(text, name, value);
            }
        }
        return nb::str("{})").format(text);
    });
}

/// Binds a field of EXTRA_FIELDS: what was given for it, or None or False.
template <std::size_t Index>
void bind_extra(nb::class_<PyLaunchConfig>& type, const char* annotation,
                const char* documentation) {
    const auto* signature = new std::string(std::string("def ") + EXTRA_FIELDS[Index].name +
                                            "(self) -> " + annotation); // never freed
    type.def_prop_ro(
        EXTRA_FIELDS[Index].name,
        [](const PyLaunchConfig& self) -> nb::object {
            PyObject* const found =
                self.extras.is_valid()
                    ? PyDict_GetItemString(self.extras.ptr(), EXTRA_FIELDS[Index].name)
                    : nullptr;
            if (found != nullptr) {
                return nb::borrow(found);
            }
            return EXTRA_FIELDS[Index].is_flag ? nb::borrow(Py_False) : nb::none();
        },
        nb::sig(signature->c_str()), documentation);
}

void bind_extra_fields(nb::class_<PyLaunchConfig>& type) {
    bind_extra<0>(type, "int | None", "Return the priority, or None for the stream's.");
    bind_extra<1>(type, "tuple[int, int, int] | None", "Return the preferred cluster, or None.");
    bind_extra<2>(type, "str | None", "Return how the blocks of a cluster are placed, or None.");
    bind_extra<3>(type, "int | None", "Return the percent of L1 used as shared memory, or None.");
    bind_extra<4>(type, "cuprum._types.AccessPolicyWindow | None",
                  "Return how the L2 cache treats a range of memory, or None.");
    bind_extra<5>(type, "str | None", "Return the memory synchronisation domain, or None.");
    bind_extra<6>(type, "tuple[int, int] | None", "Return the numbers of the domains, or None.");
    bind_extra<7>(type, "Event | tuple[Event, bool] | None",
                  "Return the event that blocks trigger, or None.");
    bind_extra<8>(type, "Event | None", "Return the event for the blocks' start, or None.");
    bind_extra<9>(type, "bool", "Return whether NVLink limits the kernel's speed.");
    bind_extra<10>(type, "str | None",
                   "Return whether more than 8 blocks per cluster are allowed.");
    bind_extra<11>(type, "str | None", "Return whether more than 48 KiB per block are allowed.");
    bind_extra<12>(type, "dict[int, bytes] | None", "Return attributes given by number, or None.");
}

nb::object wrap(LaunchConfig config) {
    PyLaunchConfig made{.core = std::move(config)};
    detail::encode(made.core, made.encoded, made.attributes);
    return make<PyLaunchConfig>(std::move(made));
}

void bind_factories(nb::class_<PyLaunchConfig>& type) {
    type.def_static(
        "from_size",
        [](nb::handle elements, nb::handle block) {
            return wrap(LaunchConfig::from_size(size_argument(elements, "elements"),
                                                extent_argument(block, "block")));
        },
        "elements"_a.none(), "block"_a = 256,
        nb::sig("def from_size(elements: int, block: int = 256) -> LaunchConfig"),
        R"(Return a one-dimensional configuration with at least one thread per element.

Parameters
----------
elements : int
    How many threads are needed.
block : int
    Threads per block.

Returns
-------
LaunchConfig
    The configuration.

Raises
------
ValueError
    If there is no element, or too many for one grid.)");
    type.def_static(
        "from_occupancy",
        [](nb::handle kernel, nb::handle elements, nb::handle shmem_size, int block_size_limit) {
            const PyKernel* what = get_if<PyKernel>(kernel);
            if (what == nullptr) {
                raise_error(PyExc_TypeError, "kernel must be a Kernel, got " + type_label(kernel));
            }
            const auto count = elements.is_none()
                                   ? std::nullopt
                                   : std::optional(size_argument(elements, "elements"));
            const std::size_t bytes = size_argument(shmem_size, "shmem_size");
            auto config = [&] {
                const nb::gil_scoped_release unlocked;
                return LaunchConfig::from_occupancy(*what, count, bytes, block_size_limit);
            }();
            return wrap(std::move(config));
        },
        "kernel"_a.none(), "elements"_a = nb::none(), "shmem_size"_a = 0, "block_size_limit"_a = 0,
        nb::sig("def from_occupancy(kernel: Kernel, elements: int | None = None, shmem_size: int = "
                "0, block_size_limit: int = 0) -> LaunchConfig"),
        R"(Return a one-dimensional configuration with the block size that suits the device best.

Parameters
----------
kernel : Kernel
    What is to be launched.
elements : int, optional
    How many threads are needed. Without it, as many blocks as fill the device.
shmem_size : int
    Dynamic shared memory per block, in bytes.
block_size_limit : int
    The most threads per block; 0 is the kernel's own limit.

Returns
-------
LaunchConfig
    The configuration.

Raises
------
ValueError
    If `elements` is less than 1.)");
}

/// Builds a configuration in place from its fields, in the order of the signature.
void build(PyLaunchConfig* self, const std::array<PyObject*, FIELD_COUNT>& given) {
    const auto field = [&](std::size_t i) { return nb::handle(given[i]); };
    auto* const made = new (self) PyLaunchConfig{
        .core = {.grid = extents_of(field(0), "grid"),
                 .block = extents_of(field(2), "block"),
                 .shmem_size = field(3).is_none() ? 0 : size_argument(field(3), "shmem_size"),
                 .cluster = field(1).is_none() ? std::nullopt
                                               : std::optional(extents_of(field(1), "cluster")),
                 .is_cooperative = flag_of(field(4)),
                 .programmatic_stream_serialization = flag_of(field(5))}};
    try {
        for (std::size_t i = 0; i < EXTRA_FIELDS.size(); ++i) {
            const nb::handle value = field(PLAIN_COUNT + i);
            if (value.is_none() || value.ptr() == Py_False) {
                continue;
            }
            if (!made->extras.is_valid()) {
                made->extras = nb::dict();
            }
            nb::cast<nb::dict>(made->extras)[EXTRA_FIELDS[i].name] =
                EXTRA_FIELDS[i].set(made->core, value);
        }
        detail::encode(made->core, made->encoded, made->attributes);
    } catch (...) {
        std::destroy_at(made); // Python does not know of it yet
        throw;
    }
}

void construct(PyLaunchConfig* self, const nb::args& positional, const nb::kwargs& named) {
    std::array<PyObject*, FIELD_COUNT> sorted{};
    std::vector<PyObject*> values;
    for (nb::handle value : positional) {
        values.push_back(value.ptr());
    }
    nb::list names;
    for (const auto [name, value] : named) {
        names.append(name);
        values.push_back(value.ptr());
    }
    const nb::tuple keywords(names);
    parameters.sort(values.data(), positional.size(), keywords.ptr(), sorted.data());
    build(self, sorted);
}

PyObject* call_type(PyObject* type, PyObject* const* values, std::size_t count,
                    PyObject* keywords) noexcept {
    return fast::answer([&] {
        std::array<PyObject*, FIELD_COUNT> sorted;
        const auto given = static_cast<std::size_t>(PyVectorcall_NARGS(count));
        if (!usual.sort(values, given, keywords, sorted)) [[unlikely]] {
            parameters.sort(values, given, keywords, sorted.data());
        }
        nb::object object = nb::inst_alloc(type);
        build(payload<PyLaunchConfig>(object), sorted);
        mark_ready(object);
        return object;
    });
}

nb::object to_tuple(const Dim3& extents) {
    return nb::make_tuple(extents.x, extents.y, extents.z);
}

nb::tuple plain_fields(const PyLaunchConfig& config) {
    const LaunchConfig& core = config.core;
    return nb::make_tuple(to_tuple(core.grid), core.cluster ? to_tuple(*core.cluster) : nb::none(),
                          to_tuple(core.block), core.shmem_size, core.is_cooperative,
                          core.programmatic_stream_serialization);
}

nb::object fields(const PyLaunchConfig& config) {
    if (!config.extras.is_valid()) {
        return plain_fields(config);
    }
    nb::list extras;
    for (const auto [name, value] : nb::cast<nb::dict>(config.extras)) {
        const bool is_dict = PyDict_Check(value.ptr()) != 0; // raw_attributes
        extras.append(
            nb::make_tuple(name, is_dict ? nb::object(nb::tuple(nb::list(value.attr("items")())))
                                         : nb::borrow(value)));
    }
    return nb::make_tuple(plain_fields(config), nb::tuple(extras));
}

} // namespace

} // namespace cuprum::python
