# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The environment variables that the runner sets for the pytest plugin."""

OUTCOME_FILE = "CUPRUM_REFERENCE_OUTCOMES"
SHARD = "CUPRUM_REFERENCE_SHARD"
TEST_TIMEOUT = "CUPRUM_REFERENCE_TIMEOUT"
IMPLEMENTATION = "CUPRUM_REFERENCE_IMPLEMENTATION"
