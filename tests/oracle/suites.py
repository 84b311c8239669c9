# SPDX-License-Identifier: Apache-2.0
"""Running the test modules that SciPy and NumPy install, inside a test of ours."""
import os
import sys


class Outcomes:
    """A pytest plugin that keeps what failed."""

    def __init__(self):
        self.passed, self.failed, self.skipped = 0, {}, 0

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            self.skipped += 1
        elif report.failed:
            self.failed[report.nodeid.split("/")[-1]] = str(report.longrepr)[-1500:]
        elif report.when == "call":
            self.passed += 1

    def __str__(self):
        return f"{self.passed} passed, {len(self.failed)} failed, {self.skipped} skipped"

    def compare(self, test, differences):
        """What failed must be the documented differences, no more and no less."""
        unexplained = {name: text for name, text in self.failed.items() if name not in differences}
        listing = "\n".join(unexplained) + "\n\n" + "\n\n".join(f"{n}\n{t}" for n, t in list(unexplained.items())[:5])
        test.assertFalse(unexplained, "not documented as different:\n" + listing)
        test.assertFalse(set(differences) - set(self.failed), "documented as different, but passing")


def require(directory, modules):
    """Leaves with the status that means skipped, and a reason, where the modules or pytest are not installed."""
    missing = [os.path.join(directory, m) for m in modules if not os.path.exists(os.path.join(directory, m))]
    try:
        import pytest  # noqa: F401
    except ImportError:
        missing.append("pytest")
    if missing:
        print(f"{missing[0]} is not installed")
        sys.exit(77)


def run_modules(directory, modules, outcomes, extra=()):
    import pytest
    arguments = ["-q", "-q", "--no-header", "--no-summary", "-p", "no:cacheprovider", "-W", "ignore", "--rootdir", directory, *extra]
    pytest.main(arguments + [os.path.join(directory, m) for m in modules], plugins=[outcomes])
