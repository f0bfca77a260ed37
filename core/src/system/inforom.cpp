// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/system/inforom.hpp>

#include "system/query.hpp"

namespace cuprum::system {

using namespace nvml_abi;

std::string Inforom::version(InforomObject object) const {
    return query_text<NVML_DEVICE_INFOROM_VERSION_BUFFER_SIZE>(
        nvml::table().nvmlDeviceGetInforomVersion, native(device_),
        static_cast<nvmlInforomObject_t>(object));
}

std::string Inforom::image_version() const {
    return query_text<NVML_DEVICE_INFOROM_VERSION_BUFFER_SIZE>(
        nvml::table().nvmlDeviceGetInforomImageVersion, native(device_));
}

unsigned Inforom::configuration_checksum() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetInforomConfigurationChecksum, device_);
}

void Inforom::validate() const {
    nvml::call(nvml::table().nvmlDeviceValidateInforom, native(device_));
}

FlushTime Inforom::bbx_flush_time() const {
    unsigned long long timestamp = 0;
    unsigned long duration = 0;
    nvml::call(nvml::table().nvmlDeviceGetLastBBXFlushTime, native(device_), &timestamp, &duration);
    return {timestamp, duration};
}

std::string Inforom::board_part_number() const {
    return query_text<NVML_DEVICE_PART_NUMBER_BUFFER_SIZE>(
        nvml::table().nvmlDeviceGetBoardPartNumber, native(device_));
}

} // namespace cuprum::system
