# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

from cuprum import CUDAError as CUDAError
from cuprum import NVRTCError as NVRTCError
from cuprum.drop_in._shims import handle_return as handle_return
