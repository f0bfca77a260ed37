// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The structures of NVML, in alphabetical order, each after the types it uses.
//
// A versioned structure begins with `version`. The caller stores the constant of the same name
// without `_t` there, for example `nvmlMemory_v2` for `nvmlMemory_v2_t`.

#pragma once

#include "constants.hpp"
#include "enums.hpp"

namespace nvml_abi {

// Declared here first, so that a declaration outside of the namespace is another type.
struct nvmlDevice_st;
struct nvmlEventSet_st;
struct nvmlSystemEventSet_st;

using nvmlDevice_t = nvmlDevice_st*;
using nvmlEventSet_t = nvmlEventSet_st*;
using nvmlSystemEventSet_t = nvmlSystemEventSet_st*;

using nvmlAffinityScope_t = unsigned int;

struct nvmlBAR1Memory_t {
    unsigned long long bar1Total;
    unsigned long long bar1Free;
    unsigned long long bar1Used;
};

struct nvmlBridgeChipInfo_t {
    nvmlBridgeChipType_t type;
    unsigned int fwVersion;
};

struct nvmlBridgeChipHierarchy_t {
    unsigned char bridgeCount;
    nvmlBridgeChipInfo_t bridgeChipInfo[NVML_MAX_PHYSICAL_BRIDGE];
};

using nvmlBusType_t = unsigned int;

struct nvmlC2cModeInfo_v1_t {
    unsigned int isC2cEnabled;
};

struct nvmlClkMonFaultInfo_t {
    unsigned int clkApiDomain;
    unsigned int clkDomainFaultMask;
};

struct nvmlClkMonStatus_t {
    unsigned int bGlobalStatus;
    unsigned int clkMonListSize;
    nvmlClkMonFaultInfo_t clkMonList[MAX_CLK_DOMAINS];
};

struct nvmlClockOffset_v1_t {
    unsigned int version;
    nvmlClockType_t type;
    nvmlPstates_t pstate;
    int clockOffsetMHz;
    int minClockOffsetMHz;
    int maxClockOffsetMHz;
};

using nvmlClockOffset_t = nvmlClockOffset_v1_t;

struct nvmlCoolerInfo_v1_t {
    unsigned int version;
    unsigned int index;
    nvmlCoolerControl_t signalType;
    nvmlCoolerTarget_t target;
};

using nvmlCoolerInfo_t = nvmlCoolerInfo_v1_t;

struct nvmlDeviceAddressingMode_v1_t {
    unsigned int version;
    unsigned int value;
};

using nvmlDeviceAddressingMode_t = nvmlDeviceAddressingMode_v1_t;

using nvmlDeviceArchitecture_t = unsigned int;

struct nvmlDeviceAttributes_t {
    unsigned int multiprocessorCount;
    unsigned int sharedCopyEngineCount;
    unsigned int sharedDecoderCount;
    unsigned int sharedEncoderCount;
    unsigned int sharedJpegCount;
    unsigned int sharedOfaCount;
    unsigned int gpuInstanceSliceCount;
    unsigned int computeInstanceSliceCount;
    unsigned long long memorySizeMB;
};

struct nvmlDeviceCapabilities_v1_t {
    unsigned int version;
    unsigned int capMask;
};

using nvmlDeviceCapabilities_t = nvmlDeviceCapabilities_v1_t;

struct nvmlDeviceCurrentClockFreqs_v1_t {
    unsigned int version;
    char str[NVML_PERF_MODES_BUFFER_SIZE];
};

using nvmlDeviceCurrentClockFreqs_t = nvmlDeviceCurrentClockFreqs_v1_t;

struct nvmlDevicePerfModes_v1_t {
    unsigned int version;
    char str[NVML_PERF_MODES_BUFFER_SIZE];
};

using nvmlDevicePerfModes_t = nvmlDevicePerfModes_v1_t;

struct nvmlDramEncryptionInfo_v1_t {
    unsigned int version;
    nvmlEnableState_t encryptionState;
};

using nvmlDramEncryptionInfo_t = nvmlDramEncryptionInfo_v1_t;

struct nvmlEccErrorCounts_t {
    unsigned long long l1Cache;
    unsigned long long l2Cache;
    unsigned long long deviceMemory;
    unsigned long long registerFile;
};

struct nvmlEccSramErrorStatus_v1_t {
    unsigned int version;
    unsigned long long aggregateUncParity;
    unsigned long long aggregateUncSecDed;
    unsigned long long aggregateCor;
    unsigned long long volatileUncParity;
    unsigned long long volatileUncSecDed;
    unsigned long long volatileCor;
    unsigned long long aggregateUncBucketL2;
    unsigned long long aggregateUncBucketSm;
    unsigned long long aggregateUncBucketPcie;
    unsigned long long aggregateUncBucketMcu;
    unsigned long long aggregateUncBucketOther;
    unsigned int bThresholdExceeded;
};

using nvmlEccSramErrorStatus_t = nvmlEccSramErrorStatus_v1_t;

struct nvmlEccSramUniqueUncorrectedErrorEntry_v1_t {
    unsigned int unit;
    unsigned int location;
    unsigned int sublocation;
    unsigned int extlocation;
    unsigned int address;
    unsigned int isParity;
    unsigned int count;
};

struct nvmlEccSramUniqueUncorrectedErrorCounts_v1_t {
    unsigned int version;
    unsigned int entryCount;
    nvmlEccSramUniqueUncorrectedErrorEntry_v1_t* entries;
};

using nvmlEccSramUniqueUncorrectedErrorCounts_t = nvmlEccSramUniqueUncorrectedErrorCounts_v1_t;

struct nvmlEventData_t {
    nvmlDevice_t device;
    unsigned long long eventType;
    unsigned long long eventData;
    unsigned int gpuInstanceId;
    unsigned int computeInstanceId;
};

using nvmlFanControlPolicy_t = unsigned int;

struct nvmlFanSpeedInfo_v1_t {
    unsigned int version;
    unsigned int fan;
    unsigned int speed;
};

using nvmlFanSpeedInfo_t = nvmlFanSpeedInfo_v1_t;

union nvmlValue_t {
    double dVal;
    int siVal;
    unsigned int uiVal;
    unsigned long ulVal;
    unsigned long long ullVal;
    long long sllVal;
    unsigned short usVal;
};

struct nvmlFieldValue_t {
    unsigned int fieldId;
    unsigned int scopeId;
    long long timestamp;
    long long latencyUsec;
    nvmlValueType_t valueType;
    nvmlReturn_t nvmlReturn;
    nvmlValue_t value;
};

struct nvmlGpuDynamicPstatesInfo_t {
    unsigned int flags;

    struct {
        unsigned int bIsPresent;
        unsigned int percentage;
        unsigned int incThreshold;
        unsigned int decThreshold;
    } utilization[NVML_MAX_GPU_UTILIZATIONS];
};

using nvmlGpuFabricState_t = unsigned char;

struct nvmlGpuFabricInfo_t {
    unsigned char clusterUuid[NVML_GPU_FABRIC_UUID_LEN];
    nvmlReturn_t status;
    unsigned int cliqueId;
    nvmlGpuFabricState_t state;
};

struct nvmlGpuFabricInfo_v2_t {
    unsigned int version;
    unsigned char clusterUuid[NVML_GPU_FABRIC_UUID_LEN];
    nvmlReturn_t status;
    unsigned int cliqueId;
    nvmlGpuFabricState_t state;
    unsigned int healthMask;
};

struct nvmlGpuFabricInfo_v3_t {
    unsigned int version;
    unsigned char clusterUuid[NVML_GPU_FABRIC_UUID_LEN];
    nvmlReturn_t status;
    unsigned int cliqueId;
    nvmlGpuFabricState_t state;
    unsigned int healthMask;
    unsigned char healthSummary;
};

using nvmlGpuFabricInfoV_t = nvmlGpuFabricInfo_v3_t;

struct nvmlGridLicenseExpiry_t {
    unsigned int year;
    unsigned short month;
    unsigned short day;
    unsigned short hour;
    unsigned short min;
    unsigned short sec;
    unsigned char status;
};

struct nvmlGridLicensableFeature_t {
    nvmlGridLicenseFeatureCode_t featureCode;
    unsigned int featureState;
    char licenseInfo[NVML_GRID_LICENSE_BUFFER_SIZE];
    char productName[NVML_GRID_LICENSE_BUFFER_SIZE];
    unsigned int featureEnabled;
    nvmlGridLicenseExpiry_t licenseExpiry;
};

struct nvmlGridLicensableFeatures_t {
    int isGridLicenseSupported;
    unsigned int licensableFeaturesCount;
    nvmlGridLicensableFeature_t gridLicensableFeatures[NVML_GRID_LICENSE_FEATURE_MAX_COUNT];
};

struct nvmlGpuThermalSettings_t {
    unsigned int count;

    struct {
        nvmlThermalController_t controller;
        int defaultMinTemp;
        int defaultMaxTemp;
        int currentTemp;
        nvmlThermalTarget_t target;
    } sensor[NVML_MAX_THERMAL_SENSORS_PER_GPU];
};

struct nvmlMarginTemperature_v1_t {
    unsigned int version;
    int marginTemperature;
};

using nvmlMarginTemperature_t = nvmlMarginTemperature_v1_t;

struct nvmlMemory_t {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

struct nvmlMemory_v2_t {
    unsigned int version;
    unsigned long long total;
    unsigned long long reserved;
    unsigned long long free;
    unsigned long long used;
};

struct nvmlNvlinkFirmwareVersion_t {
    unsigned char ucodeType;
    unsigned int major;
    unsigned int minor;
    unsigned int subMinor;
};

struct nvmlNvlinkFirmwareInfo_t {
    nvmlNvlinkFirmwareVersion_t firmwareVersion[NVML_NVLINK_FIRMWARE_VERSION_LENGTH];
    unsigned int numValidEntries;
};

struct nvmlNvlinkGetBwMode_v1_t {
    unsigned int version;
    unsigned int bIsBest;
    unsigned char bwMode;
};

using nvmlNvlinkGetBwMode_t = nvmlNvlinkGetBwMode_v1_t;

struct nvmlNvLinkInfo_v2_t {
    unsigned int version;
    unsigned int isNvleEnabled;
    nvmlNvlinkFirmwareInfo_t firmwareInfo;
};

using nvmlNvLinkInfo_t = nvmlNvLinkInfo_v2_t;

struct nvmlNvLinkInfo_v1_t {
    unsigned int version;
    unsigned int isNvleEnabled;
};

struct nvmlNvlinkSetBwMode_v1_t {
    unsigned int version;
    unsigned int bSetBest;
    unsigned char bwMode;
};

using nvmlNvlinkSetBwMode_t = nvmlNvlinkSetBwMode_v1_t;

struct nvmlNvlinkSupportedBwModes_v1_t {
    unsigned int version;
    unsigned char bwModes[NVML_NVLINK_TOTAL_SUPPORTED_BW_MODES];
    unsigned char totalBwModes;
};

using nvmlNvlinkSupportedBwModes_t = nvmlNvlinkSupportedBwModes_v1_t;

struct nvmlNvLinkUtilizationControl_t {
    nvmlNvLinkUtilizationCountUnits_t units;
    nvmlNvLinkUtilizationCountPktTypes_t pktfilter;
};

struct nvmlPciInfo_t {
    char busIdLegacy[NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE];
    unsigned int domain;
    unsigned int bus;
    unsigned int device;
    unsigned int pciDeviceId;
    unsigned int pciSubSystemId;
    char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
};

struct nvmlPciInfoExt_v1_t {
    unsigned int version;
    unsigned int domain;
    unsigned int bus;
    unsigned int device;
    unsigned int pciDeviceId;
    unsigned int pciSubSystemId;
    unsigned int baseClass;
    unsigned int subClass;
    char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
};

using nvmlPciInfoExt_t = nvmlPciInfoExt_v1_t;

struct nvmlPdi_v1_t {
    unsigned int version;
    unsigned long long value;
};

using nvmlPdi_t = nvmlPdi_v1_t;

struct nvmlPlatformInfo_v2_t {
    unsigned int version;
    unsigned char ibGuid[16];
    unsigned char chassisSerialNumber[16];
    unsigned char slotNumber;
    unsigned char trayIndex;
    unsigned char hostId;
    unsigned char peerType;
    unsigned char moduleId;
};

using nvmlPlatformInfo_t = nvmlPlatformInfo_v2_t;

struct nvmlPlatformInfo_v1_t {
    unsigned int version;
    unsigned char ibGuid[16];
    unsigned char rackGuid[16];
    unsigned char chassisPhysicalSlotNumber;
    unsigned char computeSlotIndex;
    unsigned char nodeIndex;
    unsigned char peerType;
    unsigned char moduleId;
};

using nvmlPowerScopeType_t = unsigned char;

using nvmlPowerSource_t = unsigned int;

struct nvmlPowerValue_v2_t {
    unsigned int version;
    nvmlPowerScopeType_t powerScope;
    unsigned int powerValueMw;
};

struct nvmlProcessDetail_v1_t {
    unsigned int pid;
    unsigned long long usedGpuMemory;
    unsigned int gpuInstanceId;
    unsigned int computeInstanceId;
    unsigned long long usedGpuCcProtectedMemory;
};

struct nvmlProcessDetailList_v1_t {
    unsigned int version;
    unsigned int mode;
    unsigned int numProcArrayEntries;
    nvmlProcessDetail_v1_t* procArray;
};

using nvmlProcessDetailList_t = nvmlProcessDetailList_v1_t;

struct nvmlProcessUtilizationInfo_v1_t {
    unsigned long long timeStamp;
    unsigned int pid;
    unsigned int smUtil;
    unsigned int memUtil;
    unsigned int encUtil;
    unsigned int decUtil;
    unsigned int jpgUtil;
    unsigned int ofaUtil;
};

struct nvmlProcessesUtilizationInfo_v1_t {
    unsigned int version;
    unsigned int processSamplesCount;
    unsigned long long lastSeenTimeStamp;
    nvmlProcessUtilizationInfo_v1_t* procUtilArray;
};

using nvmlProcessesUtilizationInfo_t = nvmlProcessesUtilizationInfo_v1_t;

struct nvmlProcessInfo_v1_t {
    unsigned int pid;
    unsigned long long usedGpuMemory;
};

struct nvmlProcessInfo_v2_t {
    unsigned int pid;
    unsigned long long usedGpuMemory;
    unsigned int gpuInstanceId;
    unsigned int computeInstanceId;
};

using nvmlProcessInfo_t = nvmlProcessInfo_v2_t;

struct nvmlProcessUtilizationSample_t {
    unsigned int pid;
    unsigned long long timeStamp;
    unsigned int smUtil;
    unsigned int memUtil;
    unsigned int encUtil;
    unsigned int decUtil;
};

struct nvmlRemappedRowsInfo_v2_t {
    unsigned int corrActiveRemaps;
    unsigned int corrInactiveRemaps;
    unsigned int uncActiveRemaps;
    unsigned int uncInactiveRemaps;
    unsigned int bPending;
    unsigned int bFailureOccurred;
};

struct nvmlRepairStatus_v1_t {
    unsigned int version;
    unsigned int bChannelRepairPending;
    unsigned int bTpcRepairPending;
};

using nvmlRepairStatus_t = nvmlRepairStatus_v1_t;

struct nvmlRowRemapperHistogramValues_t {
    unsigned int max;
    unsigned int high;
    unsigned int partial;
    unsigned int low;
    unsigned int none;
};

struct nvmlSample_t {
    unsigned long long timeStamp;
    nvmlValue_t sampleValue;
};

struct nvmlSystemDriverBranchInfo_v1_t {
    unsigned int version;
    char branch[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE];
};

using nvmlSystemDriverBranchInfo_t = nvmlSystemDriverBranchInfo_v1_t;

struct nvmlSystemEventData_v1_t {
    unsigned long long eventType;
    unsigned int gpuId;
};

struct nvmlSystemEventSetCreateRequest_v1_t {
    unsigned int version;
    nvmlSystemEventSet_t set;
};

using nvmlSystemEventSetCreateRequest_t = nvmlSystemEventSetCreateRequest_v1_t;

struct nvmlSystemEventSetFreeRequest_v1_t {
    unsigned int version;
    nvmlSystemEventSet_t set;
};

using nvmlSystemEventSetFreeRequest_t = nvmlSystemEventSetFreeRequest_v1_t;

struct nvmlSystemEventSetWaitRequest_v1_t {
    unsigned int version;
    unsigned int timeoutms;
    nvmlSystemEventSet_t set;
    nvmlSystemEventData_v1_t* data;
    unsigned int dataSize;
    unsigned int numEvent;
};

using nvmlSystemEventSetWaitRequest_t = nvmlSystemEventSetWaitRequest_v1_t;

struct nvmlSystemRegisterEventRequest_v1_t {
    unsigned int version;
    unsigned long long eventTypes;
    nvmlSystemEventSet_t set;
};

using nvmlSystemRegisterEventRequest_t = nvmlSystemRegisterEventRequest_v1_t;

struct nvmlTemperature_v1_t {
    unsigned int version;
    nvmlTemperatureSensors_t sensorType;
    int temperature;
};

using nvmlTemperature_t = nvmlTemperature_v1_t;

struct nvmlUtilization_t {
    unsigned int gpu;
    unsigned int memory;
};

union nvmlUUIDValue_t {
    char str[NVML_DEVICE_UUID_ASCII_LEN];
    unsigned char bytes[NVML_DEVICE_UUID_BINARY_LEN];
};

struct nvmlUUID_v1_t {
    unsigned int version;
    unsigned int type;
    nvmlUUIDValue_t value;
};

using nvmlUUID_t = nvmlUUID_v1_t;

struct nvmlViolationTime_t {
    unsigned long long referenceTime;
    unsigned long long violationTime;
};

/// Returns what the field `version` of version `number` of a structure holds.
template <typename Struct>
constexpr unsigned int struct_version(unsigned int number) {
    return static_cast<unsigned int>(sizeof(Struct)) | (number << 24U);
}

inline constexpr unsigned int nvmlC2cModeInfo_v1 = struct_version<nvmlC2cModeInfo_v1_t>(1);
inline constexpr unsigned int nvmlClockOffset_v1 = struct_version<nvmlClockOffset_v1_t>(1);
inline constexpr unsigned int nvmlCoolerInfo_v1 = struct_version<nvmlCoolerInfo_v1_t>(1);
inline constexpr unsigned int nvmlDeviceAddressingMode_v1 =
    struct_version<nvmlDeviceAddressingMode_v1_t>(1);
inline constexpr unsigned int nvmlDeviceCapabilities_v1 =
    struct_version<nvmlDeviceCapabilities_v1_t>(1);
inline constexpr unsigned int nvmlDeviceCurrentClockFreqs_v1 =
    struct_version<nvmlDeviceCurrentClockFreqs_v1_t>(1);
inline constexpr unsigned int nvmlDevicePerfModes_v1 = struct_version<nvmlDevicePerfModes_v1_t>(1);
inline constexpr unsigned int nvmlDramEncryptionInfo_v1 =
    struct_version<nvmlDramEncryptionInfo_v1_t>(1);
inline constexpr unsigned int nvmlEccSramErrorStatus_v1 =
    struct_version<nvmlEccSramErrorStatus_v1_t>(1);
inline constexpr unsigned int nvmlEccSramUniqueUncorrectedErrorCounts_v1 =
    struct_version<nvmlEccSramUniqueUncorrectedErrorCounts_v1_t>(1);
inline constexpr unsigned int nvmlFanSpeedInfo_v1 = struct_version<nvmlFanSpeedInfo_v1_t>(1);
inline constexpr unsigned int nvmlGpuFabricInfo_v2 = struct_version<nvmlGpuFabricInfo_v2_t>(2);
inline constexpr unsigned int nvmlGpuFabricInfo_v3 = struct_version<nvmlGpuFabricInfo_v3_t>(3);
inline constexpr unsigned int nvmlMarginTemperature_v1 =
    struct_version<nvmlMarginTemperature_v1_t>(1);
inline constexpr unsigned int nvmlMemory_v2 = struct_version<nvmlMemory_v2_t>(2);
inline constexpr unsigned int nvmlNvlinkGetBwMode_v1 = struct_version<nvmlNvlinkGetBwMode_v1_t>(1);
inline constexpr unsigned int nvmlNvLinkInfo_v1 = struct_version<nvmlNvLinkInfo_v1_t>(1);
inline constexpr unsigned int nvmlNvLinkInfo_v2 = struct_version<nvmlNvLinkInfo_v2_t>(2);
inline constexpr unsigned int nvmlNvlinkSetBwMode_v1 = struct_version<nvmlNvlinkSetBwMode_v1_t>(1);
inline constexpr unsigned int nvmlNvlinkSupportedBwModes_v1 =
    struct_version<nvmlNvlinkSupportedBwModes_v1_t>(1);
inline constexpr unsigned int nvmlPciInfoExt_v1 = struct_version<nvmlPciInfoExt_v1_t>(1);
inline constexpr unsigned int nvmlPdi_v1 = struct_version<nvmlPdi_v1_t>(1);
inline constexpr unsigned int nvmlPlatformInfo_v1 = struct_version<nvmlPlatformInfo_v1_t>(1);
inline constexpr unsigned int nvmlPlatformInfo_v2 = struct_version<nvmlPlatformInfo_v2_t>(2);
inline constexpr unsigned int nvmlPowerValue_v2 = struct_version<nvmlPowerValue_v2_t>(2);
inline constexpr unsigned int nvmlProcessDetailList_v1 =
    struct_version<nvmlProcessDetailList_v1_t>(1);
inline constexpr unsigned int nvmlProcessesUtilizationInfo_v1 =
    struct_version<nvmlProcessesUtilizationInfo_v1_t>(1);
inline constexpr unsigned int nvmlRepairStatus_v1 = struct_version<nvmlRepairStatus_v1_t>(1);
inline constexpr unsigned int nvmlSystemDriverBranchInfo_v1 =
    struct_version<nvmlSystemDriverBranchInfo_v1_t>(1);
inline constexpr unsigned int nvmlSystemEventSetCreateRequest_v1 =
    struct_version<nvmlSystemEventSetCreateRequest_v1_t>(1);
inline constexpr unsigned int nvmlSystemEventSetFreeRequest_v1 =
    struct_version<nvmlSystemEventSetFreeRequest_v1_t>(1);
inline constexpr unsigned int nvmlSystemEventSetWaitRequest_v1 =
    struct_version<nvmlSystemEventSetWaitRequest_v1_t>(1);
inline constexpr unsigned int nvmlSystemRegisterEventRequest_v1 =
    struct_version<nvmlSystemRegisterEventRequest_v1_t>(1);
inline constexpr unsigned int nvmlTemperature_v1 = struct_version<nvmlTemperature_v1_t>(1);
inline constexpr unsigned int nvmlUUID_v1 = struct_version<nvmlUUID_v1_t>(1);

} // namespace nvml_abi
