# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""NVML: the classes and functions of ``cuprum.system``."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, SupportsIndex

from cuprum._cuprum.device import Device
from cuprum._cuprum.words import (
    AffinityScopeWord,
    ClockIdWord,
    ClocksEventReasonsWord,
    ClockTypeWord,
    EccCounterTypeWord,
    EventTypeWord,
    GpuP2PCapsIndexWord,
    GpuTopologyLevelWord,
    InforomObjectWord,
    MemoryErrorTypeWord,
    SystemEventTypeWord,
    TemperatureThresholdsWord,
    ThermalTargetWord,
)
from cuprum.system.typing import (
    AddressingMode,
    AffinityScope,
    ClockId,
    ClocksEventReasons,
    ClockType,
    CoolerControl,
    CoolerTarget,
    DeviceArch,
    EccCounterType,
    EventType,
    FanControlPolicy,
    FieldId,
    GpuP2PCapsIndex,
    GpuP2PStatus,
    GpuTopologyLevel,
    InforomObject,
    MemoryErrorType,
    SystemEventType,
    TemperatureThresholds,
    ThermalController,
    ThermalTarget,
)

class MemoryInfo:
    """Memory of a device, in bytes.

    Examples
    --------
    >>> memory = cuprum.system.Device(index=0).memory_info
    >>> memory.used + memory.free <= memory.total
    True
    """

    @property
    def total(self) -> int:
        """Return the whole."""

    @property
    def free(self) -> int:
        """Return what is free."""

    @property
    def used(self) -> int:
        """Return what programs allocated."""

    @property
    def reserved(self) -> int:
        """Return what the driver and the firmware keep."""

    def __repr__(self) -> str: ...

class BAR1MemoryInfo(MemoryInfo):
    """Memory of a device that the CPU and other devices can map over PCIe, in bytes.

    Examples
    --------
    >>> memory = cuprum.system.Device(index=0).bar1_memory_info
    >>> memory.used <= memory.total
    True
    """

class Utilization:
    """How busy a device was over the last sampling period.

    Examples
    --------
    >>> load = cuprum.system.Device(index=0).utilization
    >>> 0 <= load.gpu <= 100
    True
    """

    @property
    def gpu(self) -> int:
        """Return the percent of time some kernel ran."""

    @property
    def memory(self) -> int:
        """Return the percent of time memory was read or written."""

    def __repr__(self) -> str: ...

class EngineUtilization:
    """How busy an encoder or decoder was.

    Examples
    --------
    >>> cuprum.system.Device(index=0).encoder_utilization.percent
    0
    """

    @property
    def percent(self) -> int:
        """Return the percent of time."""

    @property
    def sampling_period_us(self) -> int:
        """Return the period that was measured, in microseconds."""

class ProcessUtilization:
    """How busy one process kept a device, in percent.

    Examples
    --------
    >>> for item in cuprum.system.Device(index=0).get_process_utilization():
    ...     print(item.pid, item.sm)  # doctest: +SKIP
    """

    @property
    def pid(self) -> int:
        """Return the number of the process."""

    @property
    def timestamp(self) -> int:
        """Return when it was measured, in microseconds since 1970."""

    @property
    def sm(self) -> int:
        """Return the share of the multiprocessors."""

    @property
    def memory(self) -> int:
        """Return the share of the memory."""

    @property
    def encoder(self) -> int:
        """Return the share of encoders."""

    @property
    def decoder(self) -> int:
        """Return the share of decoders."""

    def __repr__(self) -> str: ...

class ProcessInfo:
    """A process that uses a device.

    Examples
    --------
    >>> import os
    >>> os.getpid() in [item.pid for item in cuprum.system.Device(index=0).compute_running_processes]
    True
    """

    @property
    def pid(self) -> int:
        """Return the number of the process."""

    @property
    def used_gpu_memory(self) -> int | None:
        """Return the device memory it uses, in bytes; None if the driver does not tell."""

    @property
    def name(self) -> str:
        """Return the name of the program.

        Raises
        ------
        NotFoundError
            If the process is gone.
        """

    @property
    def gpu_instance_id(self) -> int:
        """Return the MIG instance of the device that the process uses.

        Raises
        ------
        NotSupportedError
            If the device is not a MIG device.
        """

    @property
    def compute_instance_id(self) -> int:
        """Return the MIG compute instance that the process uses.

        Raises
        ------
        NotSupportedError
            If the device is not a MIG device.
        """

    def __repr__(self) -> str: ...

class DeviceAttributes:
    """Engines and slices of a device.

    Examples
    --------
    >>> attributes = cuprum.system.Device(index=0).attributes
    >>> attributes.multiprocessor_count > 0
    True
    """

    @property
    def multiprocessor_count(self) -> int:
        """Return the multiprocessors."""

    @property
    def shared_copy_engine_count(self) -> int:
        """Return the copy engines."""

    @property
    def shared_decoder_count(self) -> int:
        """Return the video decoders."""

    @property
    def shared_encoder_count(self) -> int:
        """Return the video encoders."""

    @property
    def shared_jpeg_count(self) -> int:
        """Return the JPEG engines."""

    @property
    def shared_ofa_count(self) -> int:
        """Return the optical flow engines."""

    @property
    def gpu_instance_slice_count(self) -> int:
        """Return the slices of its GPU instance."""

    @property
    def compute_instance_slice_count(self) -> int:
        """Return the slices of its compute instance."""

    @property
    def memory_size_mb(self) -> int:
        """Return the memory in MiB."""

class RepairStatus:
    """Repairs that the next reset makes.

    Examples
    --------
    >>> cuprum.system.Device(index=0).repair_status.is_channel_repair_pending  # doctest: +SKIP
    False
    """

    @property
    def channel_repair_pending(self) -> bool:
        """Return whether a channel of memory will be repaired."""

    @property
    def tpc_repair_pending(self) -> bool:
        """Return whether a group of multiprocessors will be repaired."""

class RemappedRows:
    """Rows of memory that were replaced by spare ones.

    Examples
    --------
    >>> cuprum.system.Device(index=0).ecc.remapped_rows  # doctest: +SKIP
    """

    @property
    def corrected(self) -> int:
        """Return the rows replaced after errors that ECC corrected."""

    @property
    def uncorrected(self) -> int:
        """Return the rows replaced after errors that ECC did not correct."""

    @property
    def is_pending(self) -> bool:
        """Return whether the next reset replaces more."""

    @property
    def has_failed(self) -> bool:
        """Return whether a row could not be replaced."""

class ClockOffsets:
    """The offset of a clock, in MHz.

    Examples
    --------
    >>> offsets = cuprum.system.Device(index=0).get_clock("sm").get_offsets(0)
    >>> offsets.clock_offset_mhz
    0
    """

    @property
    def clock_offset_mhz(self) -> int:
        """Return the offset."""

    @property
    def max_offset_mhz(self) -> int:
        """Return its maximum."""

    @property
    def min_offset_mhz(self) -> int:
        """Return its minimum."""

class CoolerInfo:
    """A cooler.

    Examples
    --------
    >>> cooler = cuprum.system.Device(index=0).cooler
    >>> targets = cooler.target
    """

    @property
    def signal_type(self) -> CoolerControl | None:
        """Return how it is controlled; None if it is not."""

    @property
    def target(self) -> list[CoolerTarget]:
        """Return what it cools."""

class GpuDynamicPstatesUtilization:
    """How one part of a device influences its performance state.

    Examples
    --------
    >>> gpu = cuprum.system.Device(index=0).dynamic_pstates_info[0]
    >>> 0 <= gpu.percentage <= 100
    True
    """

    @property
    def is_present(self) -> bool:
        """Return whether the device has this part."""

    @property
    def percentage(self) -> int:
        """Return how busy it was in the last second."""

    @property
    def inc_threshold(self) -> int:
        """Return the percentage that raises the speed."""

    @property
    def dec_threshold(self) -> int:
        """Return the percentage that lowers the speed."""

class GpuDynamicPstatesInfo:
    """The parts of a device: GPU, frame buffer, video engine and bus, then reserved ones.

    Examples
    --------
    >>> info = cuprum.system.Device(index=0).dynamic_pstates_info
    >>> len(info)
    8
    """

    def __len__(self) -> int: ...
    def __getitem__(self, idx: int, /) -> GpuDynamicPstatesUtilization: ...

class ThermalSensor:
    """A sensor, in degrees Celsius.

    Examples
    --------
    >>> temperature = cuprum.system.Device(index=0).temperature
    >>> temperature.get_thermal_settings("all")[0].current_temp
    40
    """

    @property
    def controller(self) -> ThermalController:
        """Return the chip that measures."""

    @property
    def default_min_temp(self) -> int:
        """Return the least it measures."""

    @property
    def default_max_temp(self) -> int:
        """Return the most it measures."""

    @property
    def current_temp(self) -> int:
        """Return the temperature."""

    @property
    def target(self) -> ThermalTarget:
        """Return what it measures."""

class ThermalSettings:
    """The sensors of a device.

    Examples
    --------
    >>> settings = cuprum.system.Device(index=0).temperature.get_thermal_settings("all")
    >>> [sensor.current_temp for sensor in settings]
    [40]
    """

    def __len__(self) -> int: ...
    def __getitem__(self, idx: int, /) -> ThermalSensor: ...

class Sample:
    """What a device did at one moment. What it does not report is None.

    Examples
    --------
    >>> sample = cuprum.system.Device(index=0).read_sample()
    >>> sample.memory_used <= sample.memory_total
    True
    """

    @property
    def time(self) -> float:
        """Return when it was read, in seconds since 1970."""

    @property
    def gpu_utilization(self) -> int | None:
        """Return the percent of time it was busy."""

    @property
    def memory_utilization(self) -> int | None:
        """Return the percent of time its memory was busy."""

    @property
    def memory_used(self) -> int | None:
        """Return the memory in use, in bytes."""

    @property
    def memory_total(self) -> int | None:
        """Return all its memory, in bytes."""

    @property
    def temperature(self) -> int | None:
        """Return the temperature in degrees Celsius."""

    @property
    def power_mw(self) -> int | None:
        """Return the power in milliwatts."""

    @property
    def energy_mj(self) -> int | None:
        """Return the energy used since the driver was loaded, in millijoules."""

    @property
    def sm_clock_mhz(self) -> int | None:
        """Return the clock of the multiprocessors."""

    @property
    def memory_clock_mhz(self) -> int | None:
        """Return the clock of the memory."""

    @property
    def clock_event_reasons(self) -> list[ClocksEventReasons] | None:
        """Return why clocks were lower than they could be."""

class ClockInfo:
    """One clock of a device.

    Examples
    --------
    >>> clock = cuprum.system.Device(index=0).get_clock("sm")
    >>> clock.get_max_mhz() > 0
    True
    """

    def get_current_mhz(self, clock_id: ClockId | ClockIdWord | None = None) -> int:
        """Return the frequency in MHz.

        Parameters
        ----------
        clock_id : ClockId or str, optional
            ``"current"``, which is the default, or ``"customer_boost_max"``.

        Returns
        -------
        int
            The frequency.

        Raises
        ------
        ValueError
            If there is no such clock ID.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def get_max_mhz(self) -> int:
        """Return the highest frequency in MHz.

        Returns
        -------
        int
            The frequency.

        Raises
        ------
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def get_max_customer_boost_mhz(self) -> int:
        """Return the highest frequency that the manufacturer allows, in MHz.

        Returns
        -------
        int
            The frequency.

        Raises
        ------
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def get_min_max_clock_of_pstate_mhz(self, pstate: int) -> tuple[int, int]:
        """Return the lowest and the highest frequency of a performance state, in MHz.

        Parameters
        ----------
        pstate : int
            0 (the fastest) to 15.

        Returns
        -------
        tuple[int, int]
            The lowest and the highest frequency.

        Raises
        ------
        TypeError
            If `pstate` is not an int.
        ValueError
            If there is no such performance state.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def get_offsets(self, pstate: int) -> ClockOffsets:
        """Return the offset that a user set, and its limits.

        Parameters
        ----------
        pstate : int
            0 (the fastest) to 15.

        Returns
        -------
        ClockOffsets
            The offsets in MHz.

        Raises
        ------
        TypeError
            If `pstate` is not an int.
        ValueError
            If there is no such performance state.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

class FanInfo:
    """One fan of a device. Speeds are in percent of the maximum.

    Examples
    --------
    >>> fan = cuprum.system.Device(index=0).get_fan(0)
    >>> 0 <= fan.speed <= 100
    True
    """

    @property
    def speed(self) -> int:
        """Return or set the intended speed, which may exceed 100.

        Setting it takes the fan from the driver's control and needs root; see ``set_default_speed``.
        """

    @speed.setter
    def speed(self, speed: int, /) -> None: ...
    @property
    def speed_rpm(self) -> int:
        """Return the intended speed in rotations per minute."""

    @property
    def target_speed(self) -> int:
        """Return the speed that the fan is set to."""

    @property
    def min_max_speed(self) -> tuple[int, int]:
        """Return the lowest and the highest speed."""

    @property
    def control_policy(self) -> FanControlPolicy:
        """Return who controls the fan."""

    def set_default_speed(self) -> None:
        """Let the driver control the fan again. Needs root.

        Raises
        ------
        NoPermissionError
            If the caller is not root.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

class Temperature:
    """The temperatures of a device, in degrees Celsius.

    Examples
    --------
    >>> cuprum.system.Device(index=0).temperature.get_sensor()
    40
    """

    def get_sensor(self) -> int:
        """Return the temperature of the GPU.

        Returns
        -------
        int
            Degrees Celsius.

        Raises
        ------
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def get_threshold(
        self, threshold_type: TemperatureThresholds | TemperatureThresholdsWord
    ) -> int:
        """Return a temperature at which something happens.

        Ada and later architectures have fields for four of them, which replace this method. Then it gives a
        DeprecationWarning.

        Parameters
        ----------
        threshold_type : TemperatureThresholds or str
            Such as ``"shutdown"``, ``"slowdown"`` or ``"gpu_max"``.

        Returns
        -------
        int
            Degrees Celsius.

        Raises
        ------
        ValueError
            If there is no such threshold.
        """

    @property
    def margin(self) -> int:
        """Return how far the nearest slowdown is."""

    def get_thermal_settings(
        self, sensor_index: ThermalTarget | ThermalTargetWord
    ) -> ThermalSettings:
        """Return the sensors of a part of the device.

        Parameters
        ----------
        sensor_index : ThermalTarget or str
            The part, or ``"all"``.

        Returns
        -------
        ThermalSettings
            One entry for each sensor.

        Raises
        ------
        ValueError
            If there is no such part.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

class PowerInfo:
    """The power of a device, in milliwatts and millijoules.

    Examples
    --------
    >>> power = cuprum.system.Device(index=0).power
    >>> power.usage_mw <= power.limit_mw
    True
    """

    @property
    def usage_mw(self) -> int:
        """Return what the device draws; most devices average over the last second."""

    @property
    def total_energy_mj(self) -> int:
        """Return the energy used since the driver was loaded."""

    @property
    def limit_mw(self) -> int:
        """Return or set the limit of the user. Setting it needs root."""

    @limit_mw.setter
    def limit_mw(self, limit: int, /) -> None: ...
    @property
    def default_limit_mw(self) -> int:
        """Return the limit that applies unless a user sets one."""

    @property
    def enforced_limit_mw(self) -> int:
        """Return the limit in force, the least of all."""

    @property
    def limit_constraints_mw(self) -> tuple[int, int]:
        """Return the lowest and the highest limit that can be set."""

class EccInfo:
    """The error correction of a device's memory.

    Examples
    --------
    >>> cuprum.system.Device(index=0).ecc.is_enabled  # doctest: +SKIP
    True
    """

    @property
    def is_enabled(self) -> bool:
        """Return whether it is on, or set whether it is on after the next reset. Setting it needs root."""

    @is_enabled.setter
    def is_enabled(self, enabled: bool, /) -> None: ...
    @property
    def is_pending(self) -> bool:
        """Return whether it is on after the next reset."""

    def get_total_errors(
        self,
        error_type: MemoryErrorType | MemoryErrorTypeWord,
        counter: EccCounterType | EccCounterTypeWord | None = None,
    ) -> int:
        """Return how many errors were counted.

        Parameters
        ----------
        error_type : MemoryErrorType or str
            ``"corrected"`` or ``"uncorrected"``.
        counter : EccCounterType or str, optional
            ``"volatile"``, since the driver was loaded, or ``"aggregate"``, since the device was made.

        Returns
        -------
        int
            The number of errors.

        Raises
        ------
        ValueError
            If there is no such kind of error or counter.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def clear_errors(self, counter: EccCounterType | EccCounterTypeWord) -> None:
        """Set the counts of errors to 0. Needs root.

        Parameters
        ----------
        counter : EccCounterType or str
            ``"volatile"`` or ``"aggregate"``.

        Raises
        ------
        ValueError
            If there is no such counter.
        """

    @property
    def remapped_rows(self) -> RemappedRows:
        """Return the rows of memory that were replaced by spare ones."""

class InforomInfo:
    """The memory that identifies a board.

    Examples
    --------
    >>> cuprum.system.Device(index=0).inforom.image_version  # doctest: +SKIP
    'G525.0220.00.03'
    """

    def get_version(self, inforom: InforomObject | InforomObjectWord) -> str:
        """Return the version of a part.

        Parameters
        ----------
        inforom : InforomObject or str
            ``"oem"``, ``"ecc"``, ``"power"`` or ``"den"``.

        Returns
        -------
        str
            The version.

        Raises
        ------
        ValueError
            If there is no such part.
        """

    @property
    def image_version(self) -> str:
        """Return the version of the whole."""

    @property
    def configuration_checksum(self) -> int:
        """Return a checksum; boards with the same one are configured alike."""

    def validate(self) -> None:
        """Read the memory and check it.

        Raises
        ------
        CorruptedInforomError
            If it is damaged.
        """

    @property
    def bbx_flush_time(self) -> tuple[int, int]:
        """Return when the log of the board was last written, and how long that took, in microseconds."""

    @property
    def board_part_number(self) -> str:
        """Return the part number, empty for boards without one."""

class PciInfo:
    """A device on the PCI bus. The address is read once, the rest each time.

    Examples
    --------
    >>> cuprum.system.Device(index=0).pci_info.bus_id
    '00000000:01:00.0'
    """

    @property
    def bus_id(self) -> str:
        """Return the address, such as ``00000000:65:00.0``. CUDA writes four digits of the domain."""

    @property
    def bus(self) -> int:
        """Return the number of the bus."""

    @property
    def device(self) -> int:
        """Return the number on the bus."""

    @property
    def domain(self) -> int:
        """Return the domain of the bus."""

    @property
    def vendor_id(self) -> int:
        """Return the maker, 0x10de for NVIDIA."""

    @property
    def device_id(self) -> int:
        """Return the number of the model."""

    @property
    def subsystem_id(self) -> int:
        """Return the number of the board."""

    @property
    def base_class(self) -> int:
        """Return the class, 3 for displays."""

    @property
    def sub_class(self) -> int:
        """Return the class within that."""

    def __repr__(self) -> str: ...
    @property
    def link_generation(self) -> int:
        """Return the newest PCIe that device and slot share."""

    @property
    def max_link_generation(self) -> int:
        """Return the newest PCIe that the device supports."""

    @property
    def max_link_width(self) -> int:
        """Return the lanes that device and slot share."""

    @property
    def current_link_generation(self) -> int:
        """Return the generation in use."""

    @property
    def current_link_width(self) -> int:
        """Return the lanes in use."""

    @property
    def rx_throughput(self) -> int:
        """Return what the device received, in KB/s. Measures for 20 ms."""

    @property
    def tx_throughput(self) -> int:
        """Return what the device sent, in KB/s. Measures for 20 ms."""

    @property
    def replay_counter(self) -> int:
        """Return how often data had to be sent again."""

class NvlinkInfo:
    """One NVLink of a device.

    Examples
    --------
    >>> for link in cuprum.system.Device(index=0).get_nvlinks():  # doctest: +SKIP
    ...     print(link.version, link.state)
    """

    @property
    def version(self) -> tuple[int, int]:
        """Return the version as ``(major, minor)``."""

    @property
    def state(self) -> bool:
        """Return whether the link is active."""

    max_links: Final[int]
    """Return the number of links that a device may have at most; deprecated."""

class MigInfo:
    """The division of a device into smaller ones.

    Examples
    --------
    >>> cuprum.system.Device(index=0).mig.is_mig_device
    False
    """

    @property
    def is_mig_device(self) -> bool:
        """Return whether the device is itself a part of another."""

    @property
    def mode(self) -> bool:
        """Return or set whether the device is divided. Setting it needs root, and on some devices a
        reset."""

    @mode.setter
    def mode(self, mode: bool, /) -> None: ...
    @property
    def pending_mode(self) -> bool:
        """Return whether the device is divided after the next reset."""

    @property
    def device_count(self) -> int:
        """Return how many parts there can be at most, 0 if none."""

    @property
    def parent(self) -> SystemDevice:
        """Return the device that this one is a part of."""

    def get_device_by_index(self, index: int) -> SystemDevice:
        """Return a part by its index.

        Parameters
        ----------
        index : int
            Less than ``device_count``.

        Returns
        -------
        SystemDevice
            The part, as a device.

        Raises
        ------
        NotFoundError
            If there is none with this index.
        """

    def get_all_devices(self) -> Iterator[SystemDevice]:
        """Return an iterator over the parts that exist.

        Returns
        -------
        Iterator[SystemDevice]
            The parts, as devices.

        Raises
        ------
        NvmlError
            If NVML cannot answer.
        """

class SystemDevice:
    """One device as the management library (NVML) knows it.

    Nothing here starts CUDA, except ``to_cuda_device``. Properties ask NVML each time. What the device
    does not have raises NotSupportedError.

    Parameters
    ----------
    index : int, optional
        NVML's index, from 0.
    uuid : str or bytes, optional
        With or without the prefix ``GPU-`` or ``MIG-``.
    pci_bus_id : str or bytes, optional
        Such as ``0000:65:00.0``.
    serial : str or bytes, optional
        The serial number of the board.

    Raises
    ------
    ValueError
        Unless exactly one of them is given.
    NotFoundError, InvalidArgumentError
        If there is no such device; the text lists those that there are.

    Examples
    --------
    >>> device = cuprum.system.Device(index=0)
    >>> device.memory_info.total > 0
    True
    """

    def __init__(
        self,
        *,
        index: int | None = None,
        uuid: str | bytes | None = None,
        pci_bus_id: str | bytes | None = None,
        serial: str | bytes | None = None,
    ) -> None: ...
    @staticmethod
    def get_device_count() -> int:
        """Return the number of devices that NVML sees.

        Returns
        -------
        int
            The number.

        Raises
        ------
        LibraryNotFoundError
            If there is no NVML. The text shows the places that were searched.
        NvmlError
            If NVML cannot answer.
        """

    @staticmethod
    def get_all_devices() -> Iterator[SystemDevice]:
        """Return an iterator over all devices, in NVML's order.

        Returns
        -------
        Iterator[SystemDevice]
            The devices.

        Raises
        ------
        LibraryNotFoundError
            If there is no NVML. The text shows the places that were searched.
        NvmlError
            If NVML cannot answer.
        """

    @staticmethod
    def get_all_devices_with_cpu_affinity(cpu_index: int) -> Iterator[SystemDevice]:
        """Return an iterator over the devices near a CPU.

        Parameters
        ----------
        cpu_index : int
            The number of the CPU.

        Returns
        -------
        Iterator[SystemDevice]
            The devices.

        Raises
        ------
        ValueError
            If the number is negative.
        InvalidArgumentError
            If there is no such CPU.
        LibraryNotFoundError
            If there is no NVML. The text shows the places that were searched.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def handle(self) -> int:
        """Return NVML's handle as an int."""

    @property
    def index(self) -> int:
        """Return NVML's index, which may differ from CUDA's ordinal."""

    @property
    def uuid(self) -> str:
        """Return the UUID with its prefix, ``GPU-`` or ``MIG-``."""

    @property
    def uuid_without_prefix(self) -> str:
        """Return the UUID as CUDA writes it."""

    @property
    def pci_bus_id(self) -> str:
        """Return the PCI address, such as ``00000000:65:00.0``."""

    @property
    def name(self) -> str:
        """Return the model's name."""

    @property
    def brand(self) -> str:
        """Return the brand, ``Unknown`` for one that is not known here."""

    @property
    def serial(self) -> str:
        """Return the serial number of the board."""

    @property
    def vbios_version(self) -> str:
        """Return the version of the device's BIOS."""

    @property
    def arch(self) -> DeviceArch:
        """Return the architecture."""

    @property
    def cuda_compute_capability(self) -> tuple[int, int]:
        """Return the compute capability as ``(major, minor)``."""

    @property
    def minor_number(self) -> int:
        """Return the number in the device file, ``/dev/nvidia0``."""

    @property
    def module_id(self) -> int:
        """Return the number of the module on its baseboard."""

    @property
    def numa_node_id(self) -> int:
        """Return the NUMA node that the device's memory is, where it is one."""

    @property
    def attributes(self) -> DeviceAttributes:
        """Return engines and slices."""

    @property
    def pci_info(self) -> PciInfo:
        """Return the device's place on the PCI bus.

        Raises
        ------
        RuntimeError
            If it has none, as a MIG device.
        """

    @property
    def inforom(self) -> InforomInfo:
        """Return the memory that identifies the board."""

    @property
    def mig(self) -> MigInfo:
        """Return the division of the device into smaller ones."""

    def to_cuda_device(self) -> Device:
        """Return the same device as CUDA knows it. Starts the driver.

        Returns
        -------
        Device
            The device of `cuprum`.

        Raises
        ------
        RuntimeError
            If CUDA does not see it, as with ``CUDA_VISIBLE_DEVICES`` or MIG.
        """

    @property
    def is_persistence_mode_enabled(self) -> bool:
        """Return or set whether the driver stays loaded while no program uses the device. Setting it
        needs root."""

    @is_persistence_mode_enabled.setter
    def is_persistence_mode_enabled(self, enabled: bool, /) -> None: ...
    @property
    def is_c2c_enabled(self) -> bool:
        """Return whether CPU and GPU are linked chip to chip."""

    @property
    def addressing_mode(self) -> AddressingMode | None:
        """Return how the device addresses memory that the system allocated; None if it cannot."""

    @property
    def is_display_connected(self) -> bool:
        """Return whether a display is connected."""

    @property
    def is_display_active(self) -> bool:
        """Return whether a display is in use."""

    @property
    def repair_status(self) -> RepairStatus:
        """Return the repairs that the next reset makes."""

    @property
    def ecc(self) -> EccInfo:
        """Return the error correction of the device's memory."""

    @property
    def memory_info(self) -> MemoryInfo:
        """Return total, free, used and reserved memory in bytes."""

    @property
    def bar1_memory_info(self) -> BAR1MemoryInfo:
        """Return the memory that can be mapped over PCIe, in bytes."""

    @property
    def utilization(self) -> Utilization:
        """Return how busy the device and its memory were."""

    @property
    def encoder_utilization(self) -> EngineUtilization:
        """Return how busy the video encoders were."""

    @property
    def decoder_utilization(self) -> EngineUtilization:
        """Return how busy the video decoders were."""

    @property
    def compute_running_processes(self) -> list[ProcessInfo]:
        """Return the processes that compute on the device."""

    @property
    def graphics_running_processes(self) -> list[ProcessInfo]:
        """Return the processes that draw with the device."""

    @property
    def mps_compute_running_processes(self) -> list[ProcessInfo]:
        """Return the processes that compute through the Multi-Process Service."""

    def get_process_utilization(self, since: int | None = None) -> list[ProcessUtilization]:
        """Return how busy each process kept the device, an empty list if nothing is known.

        Parameters
        ----------
        since : int, optional
            Return samples that are newer than this time, in microseconds since 1970. Without it, return all
            that the driver keeps.

        Returns
        -------
        list[ProcessUtilization]
            One entry for each process.

        Raises
        ------
        ValueError
            If the time is negative.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def get_clock(self, clock_type: ClockType | ClockTypeWord) -> ClockInfo:
        """Return one of the device's clocks.

        Parameters
        ----------
        clock_type : ClockType or str
            ``"graphics"``, ``"sm"``, ``"memory"`` or ``"video"``.

        Returns
        -------
        ClockInfo
            The clock.

        Raises
        ------
        ValueError
            If there is no such clock.
        """

    @property
    def is_auto_boosted_clocks_enabled(self) -> tuple[bool, bool]:
        """Return whether clocks may rise on their own, now and by default."""

    @property
    def current_clock_event_reasons(self) -> list[ClocksEventReasons]:
        """Return why clocks are lower than they could be."""

    @property
    def supported_clock_event_reasons(self) -> list[ClocksEventReasons]:
        """Return the reasons that the device can report."""

    @property
    def throttle_reasons(self) -> list[str]:
        """Return why clocks are lower than they could be, each in a sentence."""

    @property
    def performance_state(self) -> int | None:
        """Return the performance state, 0 (the fastest) to 15; None if it is not known."""

    @property
    def supported_pstates(self) -> list[int]:
        """Return the performance states that the device has."""

    @property
    def dynamic_pstates_info(self) -> GpuDynamicPstatesInfo:
        """Return how parts of the device influence its performance state."""

    @property
    def power(self) -> PowerInfo:
        """Return power, its limits and the energy used."""

    @property
    def temperature(self) -> Temperature:
        """Return the temperatures."""

    @property
    def cooler(self) -> CoolerInfo:
        """Return the cooler."""

    @property
    def num_fans(self) -> int:
        """Return the number of fans, 0 if it has none of its own."""

    def get_fan(self, fan: int = 0) -> FanInfo:
        """Return one of the device's fans.

        Parameters
        ----------
        fan : int, optional
            Its index, from 0.

        Returns
        -------
        FanInfo
            The fan.

        Raises
        ------
        ValueError
            If there is no such fan; the text shows the range.
        """

    def get_nvlink_count(self) -> int:
        """Return the number of NVLinks.

        Returns
        -------
        int
            The number.

        Raises
        ------
        NvmlError
            If NVML cannot answer.
        """

    def get_nvlink(self, link: int) -> NvlinkInfo:
        """Return one NVLink.

        Parameters
        ----------
        link : int
            Its index, from 0.

        Returns
        -------
        NvlinkInfo
            The link.

        Raises
        ------
        ValueError
            If there is no such link; the text shows the range.
        """

    def get_nvlinks(self) -> Iterator[NvlinkInfo]:
        """Return an iterator over all NVLinks.

        Returns
        -------
        Iterator[NvlinkInfo]
            The links.

        Raises
        ------
        NvmlError
            If NVML cannot answer.
        """

    def get_cpu_affinity(self, scope: AffinityScope | AffinityScopeWord | None = None) -> list[int]:
        """Return the CPUs near the device.

        Parameters
        ----------
        scope : AffinityScope or str, optional
            ``"node"``, which is the default, or ``"socket"``.

        Returns
        -------
        list[int]
            The numbers of the CPUs.

        Raises
        ------
        ValueError
            If there is no such scope.
        """

    def get_memory_affinity(
        self, scope: AffinityScope | AffinityScopeWord | None = None
    ) -> list[int]:
        """Return the NUMA nodes near the device.

        Parameters
        ----------
        scope : AffinityScope or str, optional
            ``"node"``, which is the default, or ``"socket"``.

        Returns
        -------
        list[int]
            The numbers of the nodes.

        Raises
        ------
        ValueError
            If there is no such scope.
        """

    def set_cpu_affinity(self) -> None:
        """Bind the calling thread to the CPUs near the device.

        Raises
        ------
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def clear_cpu_affinity(self) -> None:
        """Let the calling thread run on any CPU again.

        Raises
        ------
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def get_topology_nearest_gpus(
        self, level: GpuTopologyLevel | GpuTopologyLevelWord
    ) -> Iterator[SystemDevice]:
        """Return an iterator over the devices that share a level of the topology.

        Parameters
        ----------
        level : GpuTopologyLevel or str
            Such as ``"single"``: one PCIe switch.

        Returns
        -------
        Iterator[SystemDevice]
            The devices.

        Raises
        ------
        ValueError
            If there is no such level.
        """

    def get_field_values(self, field_ids: Sequence[int | tuple[int, int]]) -> FieldValues:
        """Read several fields at once.

        Each may fail on its own. Its error is raised when its value is read, or by ``validate``.

        Parameters
        ----------
        field_ids : list of int or (int, int)
            Members of `FieldId`, each alone or with the part of the device that it is about.

        Returns
        -------
        FieldValues
            The values, in the order of the fields.

        Raises
        ------
        TypeError
            If a field is neither an int nor a pair of ints.
        NvmlError
            If NVML cannot answer.
        """

    def clear_field_values(self, field_ids: Sequence[int | tuple[int, int]]) -> None:
        """Set counters to 0, where the device allows that.

        Parameters
        ----------
        field_ids : list of int or (int, int)
            As in ``get_field_values``.

        Raises
        ------
        TypeError
            If a field is neither an int nor a pair of ints.
        NvmlError
            If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
        """

    def register_events(
        self, events: EventType | EventTypeWord | list[EventType | EventTypeWord]
    ) -> DeviceEvents:
        """Start to record events. Earlier ones are not seen.

        Parameters
        ----------
        events : EventType, str or list of them
            Such as ``"xid_critical_error"``.

        Returns
        -------
        DeviceEvents
            What waits for the events.

        Raises
        ------
        NotSupportedError
            If the device does not have one of them; see ``get_supported_event_types``.
        """

    def get_supported_event_types(self) -> list[EventType]:
        """Return the events that the device has.

        Returns
        -------
        list[EventType]
            The kinds of events.

        Raises
        ------
        NvmlError
            If NVML cannot answer.
        """

    def read_sample(self) -> Sample:
        """Read load, memory, temperature, power and clocks at once; None for what is unknown.

        Returns
        -------
        Sample
            The values at this moment.

        Raises
        ------
        GpuIsLostError
            If the device is gone.
        """

    def sample(self, interval: float = 1.0, count: SupportsIndex | None = None) -> Iterator[Sample]:
        """Return an iterator that reads a sample at an interval. The first comes at once.

        A late reader skips what it missed, so that samples never come faster than the interval.

        Parameters
        ----------
        interval : float, optional
            In seconds.
        count : int, optional
            How many samples. Without it, there is no end.

        Returns
        -------
        Iterator[Sample]
            Samples, until `count` or without end.

        Raises
        ------
        ValueError
            If the interval is not positive.
        """

class FieldValue:
    """One field of a device and when it was read.

    Examples
    --------
    >>> from cuprum.system.typing import FieldId
    >>> values = cuprum.system.Device(index=0).get_field_values([FieldId.DEV_TOTAL_ENERGY_CONSUMPTION])
    >>> values[0].value >= 0
    True
    """

    @property
    def field_id(self) -> FieldId:
        """Return the field."""

    @property
    def scope_id(self) -> int:
        """Return the part of the device, such as a link."""

    @property
    def timestamp(self) -> int:
        """Return when it was sampled, in microseconds since 1970."""

    @property
    def latency_usec(self) -> int:
        """Return how long the driver took to read it, in microseconds."""

    @property
    def value(self) -> int | float:
        """Return the value.

        Raises
        ------
        NvmlError
            If the field could not be read; NotSupportedError if the device does not have it.
        """

class FieldValues:
    """Fields that were read together.

    Examples
    --------
    >>> from cuprum.system.typing import FieldId
    >>> values = cuprum.system.Device(index=0).get_field_values([FieldId.DEV_TOTAL_ENERGY_CONSUMPTION])
    >>> len(values)
    1
    """

    def __len__(self) -> int: ...
    def __getitem__(self, idx: int, /) -> FieldValue: ...
    def validate(self) -> None:
        """Check that every field was read.

        Raises
        ------
        NvmlError
            The error of the first that was not.
        """

    def get_all_values(self) -> list[int | float]:
        """Return all values.

        Returns
        -------
        list[int or float]
            The values, in the order of the fields.

        Raises
        ------
        NvmlError
            The error of the first field that was not read.
        """

class EventData:
    """An event of a device.

    Examples
    --------
    >>> device = cuprum.system.Device(index=0)
    >>> with device.register_events("xid_critical_error") as events:  # doctest: +SKIP
    ...     print(events.wait().event_data)
    """

    @property
    def device(self) -> SystemDevice:
        """Return the device."""

    @property
    def event_type(self) -> EventType:
        """Return what happened."""

    @property
    def event_data(self) -> int:
        """Return the number of the Xid error.

        Raises
        ------
        ValueError
            For other events.
        """

    @property
    def gpu_instance_id(self) -> int | None:
        """Return the MIG instance that an Xid error belongs to; None if there is none.

        Raises
        ------
        ValueError
            For other events.
        """

    @property
    def compute_instance_id(self) -> int | None:
        """Return the MIG compute instance that an Xid error belongs to; None if there is none.

        Raises
        ------
        ValueError
            For other events.
        """

class DeviceEvents:
    """Events of one device that are recorded, until it is closed.

    Examples
    --------
    >>> device = cuprum.system.Device(index=0)
    >>> kinds = device.get_supported_event_types()
    >>> events = device.register_events(kinds)
    """

    def wait(self, timeout_ms: int | None = 0) -> EventData:
        """Block until an event happens and return it. Ctrl-C ends the wait.

        Parameters
        ----------
        timeout_ms : int, optional
            How long to wait. 0 and None mean without limit.

        Returns
        -------
        EventData
            What happened, and where.

        Raises
        ------
        TimeoutError
            If no event happened in that time. It is a built-in TimeoutError too.
        GpuIsLostError
            If the device is gone.
        """

    def close(self) -> None:
        """Stop recording. Closing twice is harmless."""

    def __enter__(self) -> DeviceEvents: ...
    def __exit__(self, *exception: object) -> None: ...

class SystemEvent:
    """An event of the system.

    Examples
    --------
    >>> with cuprum.system.register_events("unbind") as events:  # doctest: +SKIP
    ...     print(events.wait()[0].event_type)
    """

    @property
    def event_type(self) -> SystemEventType:
        """Return what happened."""

    @property
    def gpu_id(self) -> int:
        """Return the driver's number of the device."""

    @property
    def device(self) -> SystemDevice:
        """Return the device.

        Raises
        ------
        NotFoundError
            If it left the driver.
        """

class SystemEvents:
    """Events that happened.

    Examples
    --------
    >>> with cuprum.system.register_events("unbind") as events:  # doctest: +SKIP
    ...     print(len(events.wait()))
    """

    def __len__(self) -> int: ...
    def __getitem__(self, idx: int, /) -> SystemEvent: ...

class RegisteredSystemEvents:
    """Events of the system that are recorded, until it is closed.

    Examples
    --------
    >>> events = cuprum.system.register_events("unbind")
    """

    def wait(self, timeout_ms: int | None = 0, buffer_size: int = 1) -> SystemEvents:
        """Block until events happen and return them. Ctrl-C ends the wait.

        Parameters
        ----------
        timeout_ms : int, optional
            How long to wait. 0 and None mean without limit.
        buffer_size : int, optional
            How many events to return at most.

        Returns
        -------
        SystemEvents
            What happened.

        Raises
        ------
        TimeoutError
            If no event happened in that time. It is a built-in TimeoutError too.
        """

    def close(self) -> None:
        """Stop recording. Closing twice is harmless."""

    def __enter__(self) -> RegisteredSystemEvents: ...
    def __exit__(self, *exception: object) -> None: ...

def register_events(
    events: SystemEventType | SystemEventTypeWord | list[SystemEventType | SystemEventTypeWord],
) -> RegisteredSystemEvents:
    """Start to record events of the system. Earlier ones are not seen.

    Parameters
    ----------
    events : SystemEventType, str or list of them
        ``"unbind"`` or ``"bind"``.

    Returns
    -------
    RegisteredSystemEvents
        What waits for the events.

    Raises
    ------
    NotSupportedError
        If the driver has none of these events.
    """

def get_user_mode_driver_version() -> tuple[int, ...]:
    """Return the newest CUDA that the driver supports, as ``(major, minor)``.

    Without NVML, the driver itself is asked.

    Returns
    -------
    tuple[int, ...]
        The version.

    Raises
    ------
    LibraryNotFoundError
        If there is neither NVML nor a driver.
    """

def get_kernel_mode_driver_version() -> tuple[int, ...]:
    """Return the version of the kernel's driver, such as ``(580, 65, 6)``.

    Returns
    -------
    tuple[int, ...]
        The version.

    Raises
    ------
    LibraryNotFoundError
        If there is no NVML. The text shows the places that were searched.
    NvmlError
        If NVML cannot answer.
    """

def get_nvml_version() -> tuple[int, ...]:
    """Return the version of NVML, such as ``(13, 580, 65, 6)``.

    Returns
    -------
    tuple[int, ...]
        The version.

    Raises
    ------
    LibraryNotFoundError
        If there is no NVML. The text shows the places that were searched.
    NvmlError
        If NVML cannot answer.
    """

def get_driver_branch() -> str:
    """Return the branch that the driver is from, such as ``r580_00``.

    Returns
    -------
    str
        The name of the branch.

    Raises
    ------
    LibraryNotFoundError
        If there is no NVML. The text shows the places that were searched.
    NvmlError
        If NVML cannot answer.
    """

def get_num_devices() -> int:
    """Return the number of devices that NVML sees.

    Returns
    -------
    int
        The number.

    Raises
    ------
    LibraryNotFoundError
        If there is no NVML. The text shows the places that were searched.
    NvmlError
        If NVML cannot answer.
    """

def get_nvml_path() -> str:
    """Return the file that NVML was loaded from. Loads it.

    Returns
    -------
    str
        The path.

    Raises
    ------
    LibraryNotFoundError
        With the places that were searched, and what to install.
    """

def get_process_name(pid: int) -> str:
    """Return the name of a process that uses a device.

    Parameters
    ----------
    pid : int
        The number of the process.

    Returns
    -------
    str
        The name.

    Raises
    ------
    NotFoundError
        If the process is gone, or uses no device.
    """

def get_topology_common_ancestor(device1: SystemDevice, device2: SystemDevice) -> GpuTopologyLevel:
    """Return where the paths of two devices meet.

    Parameters
    ----------
    device1 : SystemDevice
        A device.
    device2 : SystemDevice
        Another device.

    Returns
    -------
    GpuTopologyLevel
        The place, from the same board to different nodes.

    Raises
    ------
    TypeError
        If one of them is not a device.
    NvmlError
        If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
    """

def get_p2p_status(
    device1: SystemDevice, device2: SystemDevice, index: GpuP2PCapsIndex | GpuP2PCapsIndexWord
) -> GpuP2PStatus:
    """Return whether one device can reach another.

    Parameters
    ----------
    device1, device2 : Device
        The devices.
    index : GpuP2PCapsIndex or str
        In which way: ``"read"``, ``"write"``, ``"nvlink"``, ``"atomics"`` or ``"pci"``.

    Returns
    -------
    GpuP2PStatus
        The state of the link.

    Raises
    ------
    TypeError
        If one of them is not a device.
    ValueError
        If there is no such way.
    NvmlError
        If NVML cannot answer; ``NotSupportedError`` if the device does not have it.
    """

def explain_clock_event_reason(reason: ClocksEventReasons | ClocksEventReasonsWord) -> str:
    """Return what a reason for low clocks means, in one sentence."""

def is_nvml_initialized() -> bool:
    """Return whether this process has initialised NVML."""

def initialize_nvml() -> None:
    """Load and initialise NVML, as every query does on its own."""
