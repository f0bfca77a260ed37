# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

from cuprum import LEGACY_DEFAULT_STREAM as LEGACY_DEFAULT_STREAM
from cuprum import PER_THREAD_DEFAULT_STREAM as PER_THREAD_DEFAULT_STREAM
from cuprum import Buffer as Buffer
from cuprum import Context as Context
from cuprum import ContextOptions as ContextOptions
from cuprum import Device as Device
from cuprum import DeviceMemoryResource as DeviceMemoryResource
from cuprum import DeviceMemoryResourceOptions as DeviceMemoryResourceOptions
from cuprum import DeviceResources as DeviceResources
from cuprum import Event as Event
from cuprum import EventOptions as EventOptions
from cuprum import GraphMemoryResource as GraphMemoryResource
from cuprum import Host as Host
from cuprum import Kernel as Kernel
from cuprum import LaunchConfig as LaunchConfig
from cuprum import LegacyPinnedMemoryResource as LegacyPinnedMemoryResource
from cuprum import Linker as Linker
from cuprum import LinkerOptions as LinkerOptions
from cuprum import ManagedBuffer as ManagedBuffer
from cuprum import ManagedMemoryResource as ManagedMemoryResource
from cuprum import ManagedMemoryResourceOptions as ManagedMemoryResourceOptions
from cuprum import MemoryResource as MemoryResource
from cuprum import ObjectCode as ObjectCode
from cuprum import PinnedMemoryResource as PinnedMemoryResource
from cuprum import PinnedMemoryResourceOptions as PinnedMemoryResourceOptions
from cuprum import Program as Program
from cuprum import ProgramOptions as ProgramOptions
from cuprum import SMResource as SMResource
from cuprum import SMResourceOptions as SMResourceOptions
from cuprum import Stream as Stream
from cuprum import StreamOptions as StreamOptions
from cuprum import VirtualMemoryResource as VirtualMemoryResource
from cuprum import VirtualMemoryResourceOptions as VirtualMemoryResourceOptions
from cuprum import WorkqueueResource as WorkqueueResource
from cuprum import WorkqueueResourceOptions as WorkqueueResourceOptions
from cuprum import __version__ as __version__
from cuprum import launch as launch

from . import experimental as experimental
from . import graph as graph
from . import system as system
from . import texture as texture
from . import typing as typing
from . import utils as utils
