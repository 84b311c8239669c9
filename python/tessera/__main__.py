# SPDX-License-Identifier: Apache-2.0
"""`python -m tessera ...` is the command `tessera ...`: the one that came with the package, else the one in PATH."""
import os
import shutil
import sys


def main():
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_command")
    command = own if os.path.exists(own) else shutil.which("tessera")
    if not command:
        print("tessera: the package was built without the command (it needs libpng, libtiff, libsndfile and Jansson), and there is none in PATH", file=sys.stderr)
        return 2
    sys.stdout.flush()
    os.execv(command, ["tessera"] + sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
