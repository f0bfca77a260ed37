// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/memory_pools.hpp"
#include "support/class.hpp"

#include <cuprum/memory_pool.hpp>

namespace cuprum::python {

namespace {

/// Returns a flag, from a bool or from 0 or 1.
std::uint64_t wanted_flag(nb::handle value, const char* name) {
    if (PyIndex_Check(value.ptr()) == 0) {
        return bool_argument(value, name) ? 1 : 0;
    }
    const std::uint64_t number = address_argument(value, name);
    if (number > 1) {
        raise_error(PyExc_ValueError, std::string(name) + " must be False or True, 0 or 1, got " +
                                          std::to_string(number));
    }
    return number;
}

template <PoolAttribute Name, bool IsFlag>
void bind_attribute(Class<PyPoolAttributes>& type, const char* name) {
    const auto get = [](const PyPoolAttributes& self) {
        const std::uint64_t value = without_gil([&] { return self.pool->attribute(Name); });
        return IsFlag ? nb::bool_(value != 0) : nb::object(nb::int_(value));
    };
    const auto set = [name](const PyPoolAttributes& self, nb::handle value) {
        constexpr bool is_mark =
            Name == PoolAttribute::ReservedMemHigh || Name == PoolAttribute::UsedMemHigh;
        if (Name == PoolAttribute::ReservedMemCurrent || Name == PoolAttribute::UsedMemCurrent) {
            raise_error(PyExc_AttributeError, std::string("attribute '") + name +
                                                  "' of a pool's attributes is not writable");
        }
        const std::uint64_t wanted =
            IsFlag ? wanted_flag(value, name) : address_argument(value, name);
        if (is_mark && wanted != 0) {
            raise_error(PyExc_AttributeError, std::string("Attribute '") + name +
                                                  "' may only be set to zero (got " +
                                                  std::to_string(wanted) + ").");
        }
        const nb::gil_scoped_release unlocked;
        self.pool->set_attribute(Name, wanted);
    };
    type.property(name, get, set);
}

} // namespace

void bind_pool_attributes(nb::module_& module) {
    Class<PyPoolAttributes> type(module, "MemoryPoolAttributes");
    type.refuse_construction("MemoryPoolAttributes cannot be instantiated directly; "
                             "use a pool's attributes");
    bind_attribute<PoolAttribute::ReuseFollowEventDependencies, true>(
        type, "reuse_follow_event_dependencies");
    bind_attribute<PoolAttribute::ReuseAllowOpportunistic, true>(type, "reuse_allow_opportunistic");
    bind_attribute<PoolAttribute::ReuseAllowInternalDependencies, true>(
        type, "reuse_allow_internal_dependencies");
    bind_attribute<PoolAttribute::ReleaseThreshold, false>(type, "release_threshold");
    bind_attribute<PoolAttribute::ReservedMemCurrent, false>(type, "reserved_mem_current");
    bind_attribute<PoolAttribute::ReservedMemHigh, false>(type, "reserved_mem_high");
    bind_attribute<PoolAttribute::UsedMemCurrent, false>(type, "used_mem_current");
    bind_attribute<PoolAttribute::UsedMemHigh, false>(type, "used_mem_high");
    type.method("__repr__", [](const PyPoolAttributes& self) {
        const PoolAttributes now = without_gil([&] { return self.pool->attributes(); });
        const auto number = [](const char* name, std::uint64_t value) {
            return std::string(name) + "=" + std::to_string(value);
        };
        const auto flag = [](const char* name, bool value) {
            return std::string(name) + "=" + (value ? "True" : "False");
        };
        return "MemoryPoolAttributes(" + number("release_threshold", now.release_threshold) + ", " +
               number("reserved_mem_current", now.reserved_mem_current) + ", " +
               number("reserved_mem_high", now.reserved_mem_high) + ", " +
               flag("reuse_allow_internal_dependencies", now.reuse_allow_internal_dependencies) +
               ", " + flag("reuse_allow_opportunistic", now.reuse_allow_opportunistic) + ", " +
               flag("reuse_follow_event_dependencies", now.reuse_follow_event_dependencies) + ", " +
               number("used_mem_current", now.used_mem_current) + ", " +
               number("used_mem_high", now.used_mem_high) + ")";
    });
}

} // namespace cuprum::python
