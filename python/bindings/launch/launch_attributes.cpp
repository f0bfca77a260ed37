// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch/launch_attributes.hpp"

#include "memory/buffer_objects.hpp"
#include "stream/stream_objects.hpp"
#include "support/arguments.hpp"
#include "support/python_int.hpp"
#include "support/python_objects.hpp"

#include <cuprum/event.hpp>
#include <cuprum/launch_config.hpp>
#include <cuprum/stream_attributes.hpp>

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

namespace cuprum::python {

namespace {

constexpr std::array<std::string_view, 3> POLICIES{"default", "spread", "load_balancing"};
constexpr std::array<std::string_view, 2> DOMAINS{"default", "remote"};

constexpr std::array<std::string_view, 3> MODES{"default", "require_portable",
                                                "allow_non_portable"};

constexpr std::array<std::string_view, 3> CACHE_PROPERTIES{"normal", "streaming", "persisting"};

[[nodiscard]] long long integer(nb::handle value, const char* name, long long least,
                                long long most) {
    const nb::object number =
        nb::steal(PyIndex_Check(value.ptr()) != 0 ? PyNumber_Index(value.ptr()) : nullptr);
    if (!number.is_valid()) {
        clear_error(PyExc_TypeError);
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be an integer, got " + type_label(value));
    }
    int overflow = 0;
    const long long answer = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow != 0 || answer < least || answer > most) {
        raise_error(PyExc_ValueError, std::string(name) + " must be from " + std::to_string(least) +
                                          " to " + std::to_string(most) + ", got " +
                                          repr_text(number));
    }
    return answer;
}

nb::object set_priority(LaunchConfig& config, nb::handle value) {
    config.priority = static_cast<int>(integer(value, "priority", std::numeric_limits<int>::min(),
                                               std::numeric_limits<int>::max()));
    return nb::borrow(value);
}

nb::object set_preferred_cluster(LaunchConfig& config, nb::handle value) {
    const Dim3 extents = extents_of(value, "preferred_cluster");
    config.preferred_cluster = extents;
    return nb::make_tuple(extents.x, extents.y, extents.z);
}

template <typename Enum, std::size_t Count>
[[nodiscard]] Enum choice(nb::handle value, const char* name,
                          const std::array<std::string_view, Count>& names) {
    const std::string text =
        PyUnicode_Check(value.ptr()) != 0 ? lower_case(text_argument(value, name)) : std::string();
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) {
        std::string expected;
        for (const std::string_view candidate : names) {
            expected += (expected.empty() ? "'" : ", '") + std::string(candidate) + "'";
        }
        raise_error(PyExc_ValueError, std::string(name) + " must be one of " + expected + ", got " +
                                          repr_text(value));
    }
    return static_cast<Enum>(found - names.begin());
}

nb::object set_cluster_scheduling_policy(LaunchConfig& config, nb::handle value) {
    config.cluster_scheduling_policy =
        choice<ClusterSchedulingPolicy>(value, "cluster_scheduling_policy", POLICIES);
    return nb::borrow(value);
}

nb::object set_shared_memory_carveout(LaunchConfig& config, nb::handle value) {
    constexpr long long percent = 100;
    config.shared_memory_carveout =
        static_cast<unsigned>(integer(value, "shared_memory_carveout", 0, percent));
    return nb::borrow(value);
}

nb::object set_access_policy_window(LaunchConfig& config, nb::handle value) {
    const nb::object type = nb::module_::import_("cuprum._types").attr("AccessPolicyWindow");
    nb::object window;
    if (PyDict_Check(value.ptr()) != 0) {
        window = type(**nb::borrow<nb::dict>(value));
    } else if (PyTuple_Check(value.ptr()) != 0) {
        window = type(*nb::borrow<nb::tuple>(value));
    } else {
        raise_error(PyExc_TypeError,
                    "access_policy_window must be an AccessPolicyWindow or a dict, got " +
                        type_label(value));
    }
    const nb::object base = window.attr("base");
    const PyBuffer* buffer = get_if<PyBuffer>(base);
    const double ratio = PyFloat_AsDouble(nb::object(window.attr("hit_ratio")).ptr());
    if (PyErr_Occurred() != nullptr) {
        throw nb::python_error();
    }
    config.access_policy_window = AccessPolicyWindow{
        .base = buffer != nullptr ? buffer->handle()
                                  : address_argument(base, "access_policy_window base"),
        .bytes = size_argument(nb::object(window.attr("bytes")), "access_policy_window bytes"),
        .hit_ratio = static_cast<float>(ratio),
        .hit = choice<AccessProperty>(nb::object(window.attr("hit")), "access_policy_window hit",
                                      CACHE_PROPERTIES),
        .miss = choice<AccessProperty>(nb::object(window.attr("miss")), "access_policy_window miss",
                                       CACHE_PROPERTIES)};
    return window;
}

nb::object set_memory_sync_domain(LaunchConfig& config, nb::handle value) {
    config.memory_sync_domain = choice<MemorySyncDomain>(value, "memory_sync_domain", DOMAINS);
    return nb::borrow(value);
}

nb::object set_memory_sync_domain_map(LaunchConfig& config, nb::handle value) {
    if ((PyTuple_Check(value.ptr()) == 0 && PyList_Check(value.ptr()) == 0) ||
        PySequence_Fast_GET_SIZE(value.ptr()) != 2) {
        raise_error(PyExc_ValueError,
                    "memory_sync_domain_map must be two integers, got " + repr_text(value));
    }
    const auto at = [&](Py_ssize_t i) {
        return static_cast<std::uint8_t>(integer(PySequence_Fast_GET_ITEM(value.ptr(), i),
                                                 "memory_sync_domain_map", 0, UINT8_MAX));
    };
    config.memory_sync_domain_map = {at(0), at(1)};
    return nb::make_tuple(unsigned{config.memory_sync_domain_map->default_domain},
                          unsigned{config.memory_sync_domain_map->remote_domain});
}

[[nodiscard]] const Event& event_of(nb::handle value, const char* name) {
    const PyEvent* event = get_if<PyEvent>(value);
    if (event == nullptr) {
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be an Event, got " + type_label(value));
    }
    return *event;
}

nb::object set_programmatic_event(LaunchConfig& config, nb::handle value) {
    if (PyTuple_Check(value.ptr()) != 0 && PyTuple_GET_SIZE(value.ptr()) == 2) {
        config.programmatic_event = {
            event_of(PyTuple_GET_ITEM(value.ptr(), 0), "programmatic_event"),
            flag_of(PyTuple_GET_ITEM(value.ptr(), 1))};
    } else {
        config.programmatic_event = {event_of(value, "programmatic_event"), false};
    }
    return nb::borrow(value);
}

nb::object set_launch_completion_event(LaunchConfig& config, nb::handle value) {
    config.launch_completion_event = event_of(value, "launch_completion_event");
    return nb::borrow(value);
}

nb::object set_nvlink_centric_scheduling(LaunchConfig& config, nb::handle value) {
    config.nvlink_centric_scheduling = flag_of(value);
    return nb::borrow(config.nvlink_centric_scheduling ? Py_True : Py_False);
}

nb::object set_portable_cluster_mode(LaunchConfig& config, nb::handle value) {
    config.portable_cluster_mode = choice<PortabilityMode>(value, "portable_cluster_mode", MODES);
    return nb::borrow(value);
}

nb::object set_shared_memory_mode(LaunchConfig& config, nb::handle value) {
    config.shared_memory_mode = choice<PortabilityMode>(value, "shared_memory_mode", MODES);
    return nb::borrow(value);
}

nb::object set_raw_attributes(LaunchConfig& config, nb::handle value) {
    if (PyDict_Check(value.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    "raw_attributes must be a dict of int to bytes, got " + type_label(value));
    }
    nb::dict kept;
    for (const auto [number, bytes] : nb::borrow<nb::dict>(value)) {
        RawLaunchAttribute attribute;
        attribute.id =
            static_cast<int>(integer(number, "raw_attributes", 0, std::numeric_limits<int>::max()));
        Py_ssize_t size = 0;
        char* data = nullptr;
        if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) {
            throw nb::python_error();
        }
        if (static_cast<std::size_t>(size) > attribute.value.size()) {
            raise_error(PyExc_ValueError, "raw_attributes[" + std::to_string(attribute.id) +
                                              "] has " + std::to_string(size) +
                                              " bytes; expected at most " +
                                              std::to_string(attribute.value.size()));
        }
        std::memcpy(attribute.value.data(), data, static_cast<std::size_t>(size));
        config.raw_attributes.push_back(attribute);
        kept[number] = bytes;
    }
    return kept;
}

[[noreturn]] void raise_extent(nb::handle value, const char* name) {
    raise_error(PyExc_ValueError, std::string(name) +
                                      " must be an integer from 1 to 2**32 - 1 or a tuple of 1 to "
                                      "3 of them, got " +
                                      repr_text(value));
}

} // namespace

constexpr std::array<ExtraField, 13> EXTRA_FIELDS{{
    {"priority", false, set_priority},
    {"preferred_cluster", false, set_preferred_cluster},
    {"cluster_scheduling_policy", false, set_cluster_scheduling_policy},
    {"shared_memory_carveout", false, set_shared_memory_carveout},
    {"access_policy_window", false, set_access_policy_window},
    {"memory_sync_domain", false, set_memory_sync_domain},
    {"memory_sync_domain_map", false, set_memory_sync_domain_map},
    {"programmatic_event", false, set_programmatic_event},
    {"launch_completion_event", false, set_launch_completion_event},
    {"nvlink_centric_scheduling", true, set_nvlink_centric_scheduling},
    {"portable_cluster_mode", false, set_portable_cluster_mode},
    {"shared_memory_mode", false, set_shared_memory_mode},
    {"raw_attributes", false, set_raw_attributes},
}};

nb::dict extra_keywords(const LaunchConfig& config) {
    const auto word = [](const auto& names, auto value) {
        const std::string_view name = names[static_cast<std::size_t>(value)];
        return nb::str(name.data(), name.size());
    };
    nb::dict keywords;
    if (config.priority) {
        keywords["priority"] = *config.priority;
    }
    if (const auto& cluster = config.preferred_cluster) {
        keywords["preferred_cluster"] = nb::make_tuple(cluster->x, cluster->y, cluster->z);
    }
    if (config.cluster_scheduling_policy) {
        keywords["cluster_scheduling_policy"] = word(POLICIES, *config.cluster_scheduling_policy);
    }
    if (config.shared_memory_carveout) {
        keywords["shared_memory_carveout"] = *config.shared_memory_carveout;
    }
    if (const auto& window = config.access_policy_window) {
        keywords["access_policy_window"] = nb::make_tuple(
            window->base, window->bytes, window->hit_ratio, word(CACHE_PROPERTIES, window->hit),
            word(CACHE_PROPERTIES, window->miss));
    }
    if (config.memory_sync_domain) {
        keywords["memory_sync_domain"] = word(DOMAINS, *config.memory_sync_domain);
    }
    if (const auto& map = config.memory_sync_domain_map) {
        keywords["memory_sync_domain_map"] =
            nb::make_tuple(unsigned{map->default_domain}, unsigned{map->remote_domain});
    }
    if (config.nvlink_centric_scheduling) {
        keywords["nvlink_centric_scheduling"] = true;
    }
    if (config.portable_cluster_mode) {
        keywords["portable_cluster_mode"] = word(MODES, *config.portable_cluster_mode);
    }
    if (config.shared_memory_mode) {
        keywords["shared_memory_mode"] = word(MODES, *config.shared_memory_mode);
    }
    return keywords;
}

Dim3 extents_of(nb::handle value, const char* name) {
    constexpr Py_ssize_t most = 3;
    if (PyTuple_Check(value.ptr()) == 0 && PyList_Check(value.ptr()) == 0) {
        return {extent_argument(value, name)};
    }
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(value.ptr());
    if (count < 1 || count > most) {
        raise_extent(value, name);
    }
    const auto at = [&](Py_ssize_t i) {
        return i < count ? extent_argument(PySequence_Fast_GET_ITEM(value.ptr(), i), name) : 1U;
    };
    return {at(0), at(1), at(2)};
}

unsigned extent_argument(nb::handle value, const char* name) {
    std::int64_t number = 0;
    if (PyLong_CheckExact(value.ptr()) != 0) [[likely]] {
        number = read_short_int(value.ptr(), number) ? number : 0; // a longer one is out of range
    } else if (PyIndex_Check(value.ptr()) != 0) {
        number = PyNumber_AsSsize_t(value.ptr(), nullptr);
        clear_error(PyExc_TypeError);
    }
    if (number < 1 || number > std::numeric_limits<unsigned>::max()) [[unlikely]] {
        raise_extent(value, name);
    }
    return static_cast<unsigned>(number);
}

bool flag_of(nb::handle value) {
    if (value.ptr() == Py_False || value.ptr() == Py_None) {
        return false;
    }
    return is_true(value);
}

} // namespace cuprum::python
