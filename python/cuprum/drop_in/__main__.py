# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""``python -m cuprum.drop_in``."""

import sys

from cuprum.drop_in import main

if __name__ == "__main__":
    # main() puts the script's own folder first in the search path, as Python does.
    main(sys.argv[1:])
