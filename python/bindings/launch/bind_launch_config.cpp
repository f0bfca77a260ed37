// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch/kernel_objects.hpp"
#include "launch/launch_attributes.hpp"
#include "launch/launch_config.hpp"
#include "support/class.hpp"
#include "support/collection.hpp"

#include <cuprum/kernel.hpp>
#include <cuprum/launch_config.hpp>

#include <memory>
#include <vector>

namespace cuprum::python {

namespace {

constexpr std::size_t PLAIN_COUNT = 6; // the fields before those of EXTRA_FIELDS
constexpr std::size_t FIELD_COUNT = PLAIN_COUNT + EXTRA_FIELDS.size();

[[nodiscard]] nb::object to_tuple(const Dim3& extents) {
    return nb::make_tuple(extents.x, extents.y, extents.z);
}

[[nodiscard]] nb::tuple plain_fields(const PyLaunchConfig& config) {
    const LaunchConfig& core = config.core;
    return nb::make_tuple(to_tuple(core.grid), core.cluster ? to_tuple(*core.cluster) : nb::none(),
                          to_tuple(core.block), core.shmem_size, core.is_cooperative,
                          core.programmatic_stream_serialization);
}

[[nodiscard]] nb::object fields(const PyLaunchConfig& config) {
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

void bind_fields(Class<PyLaunchConfig>& type) {
    type.property("grid", [](const PyLaunchConfig& self) { return to_tuple(self.core.grid); });
    type.property("cluster", [](const PyLaunchConfig& self) -> nb::object {
        return self.core.cluster ? to_tuple(*self.core.cluster) : nb::none();
    });
    type.property("block", [](const PyLaunchConfig& self) { return to_tuple(self.core.block); });
    type.property("shmem_size", [](const PyLaunchConfig& self) { return self.core.shmem_size; });
    type.property("is_cooperative",
                  [](const PyLaunchConfig& self) { return self.core.is_cooperative; });
    type.property("programmatic_stream_serialization", [](const PyLaunchConfig& self) {
        return self.core.programmatic_stream_serialization;
    });
    type.method("__eq__", [](const PyLaunchConfig& self, const PyLaunchConfig& other) {
        return self.core == other.core;
    });
    type.method("__hash__", [](const PyLaunchConfig& self) { return nb::hash(fields(self)); });
    type.method("__reduce__", [](const PyLaunchConfig& self) {
        const nb::object type = nb::borrow(reinterpret_cast<PyObject*>(TYPE<PyLaunchConfig>));
        if (!self.extras.is_valid()) {
            return nb::make_tuple(type, plain_fields(self));
        }
        const nb::object restore =
            nb::module_::import_("cuprum._pickling").attr("restore_launch_config");
        return nb::make_tuple(restore, nb::make_tuple(plain_fields(self), self.extras));
    });
    type.method("__repr__", [](const PyLaunchConfig& self) {
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
void bind_extra(Class<PyLaunchConfig>& type) {
    type.property(EXTRA_FIELDS[Index].name, [](const PyLaunchConfig& self) -> nb::object {
        PyObject* const found =
            self.extras.is_valid()
                ? PyDict_GetItemString(self.extras.ptr(), EXTRA_FIELDS[Index].name)
                : nullptr;
        if (found != nullptr) {
            return nb::borrow(found);
        }
        return EXTRA_FIELDS[Index].is_flag ? nb::borrow(Py_False) : nb::none();
    });
}

void bind_extra_fields(Class<PyLaunchConfig>& type) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        (bind_extra<Index>(type), ...);
    }(std::make_index_sequence<EXTRA_FIELDS.size()>());
}

nb::object wrap(LaunchConfig config) {
    PyLaunchConfig made{.core = std::move(config)};
    detail::encode(made.core, made.encoded, made.attributes);
    return make<PyLaunchConfig>(std::move(made));
}

void bind_factories(Class<PyLaunchConfig>& type) {
    type.static_method("from_size", [](std::size_t elements, nb::handle block) {
        return wrap(LaunchConfig::from_size(elements, extent_argument(block, "block")));
    });
    type.static_method("from_occupancy", [](nb::handle kernel, nb::handle elements,
                                            std::size_t bytes, int block_size_limit) {
        const PyKernel* what = get_if<PyKernel>(kernel);
        if (what == nullptr) {
            raise_error(PyExc_TypeError, "kernel must be a Kernel, got " + type_label(kernel));
        }
        const auto count =
            elements.is_none() ? std::nullopt : std::optional(size_argument(elements, "elements"));
        auto config = without_gil(
            [&] { return LaunchConfig::from_occupancy(*what, count, bytes, block_size_limit); });
        return wrap(std::move(config));
    });
}

/// Builds a configuration in place from its fields, in the order of the signature.
void build(PyLaunchConfig* self, const std::array<PyObject*, FIELD_COUNT>& given) {
    const auto field = [&](std::size_t i) { return nb::handle(given[i]); };
    if (field(2).is_none() && !field(1).is_none()) [[unlikely]] {
        // Two numbers by place are a grid and a cluster; programs mean a grid and a block.
        raise_error(PyExc_ValueError,
                    "LaunchConfig() missing the argument 'block'; arguments by place are grid, "
                    "cluster, block: did you mean LaunchConfig(grid=" +
                        repr_text(field(0)) + ", block=" + repr_text(field(1)) + ")?");
    }
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

} // namespace

void bind_launch_config(nb::module_& module) {
    Class<PyLaunchConfig> type(
        module, "LaunchConfig", nb::is_weak_referenceable(), nb::pooled(),
        nb::type_slots(MemberSlots<PyLaunchConfig, &PyLaunchConfig::extras>::slots));
    type.constructor<build>();
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

} // namespace cuprum::python
