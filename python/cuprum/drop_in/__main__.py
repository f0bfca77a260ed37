# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""``python -m cuprum.drop_in``."""

import sys

from cuprum.drop_in import main

if __name__ == "__main__":
    # The folder of this file must not lead the search path of the program that is run.
    main(sys.argv[1:])
