# SPDX-License-Identifier: Apache-2.0
"""Proves: no reference and no memory is lost or used after its end, on success and on failure, through buffers, DLPack and plans; and several threads,
interpreters and a signal are safe.

A leak of references shows in sys.getrefcount, one of memory in the process's size: 2000 calls that each lost a block of 64 KiB would add 128 MiB,
the limit is 32. Run under AddressSanitizer a use after the end shows as well."""
import array
import ctypes
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
import weakref

import numpy as np

import tessera


# Under AddressSanitizer kernels take twenty times as long: what must last a while does so with less.
ASAN = "asan" in os.environ.get("LD_PRELOAD", "")
LESS = 4 if ASAN else 1


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Producer:
    """Counts how often its memory is let go."""

    def __init__(self, value):
        self.value = value

    def __dlpack__(self, **words):
        return self.value.__dlpack__(**words)


class References(unittest.TestCase):
    def test_inputs_are_let_go(self):
        x, mask, out = np.ones((4, 4)), np.ones((2, 2)), np.ones((4, 4))
        index, offsets, report = np.zeros(3, int), np.array([0, 2, 4]), {}
        watched = (x, mask, out, index, offsets, report, x.dtype, None, True, "axis", tessera.Array, tessera.Plan, ())
        plan = tessera.plan(tessera.sum, x, axis=0)
        calls = [lambda: tessera.sum(x, axis=0, report=report), lambda: tessera.correlate(x, mask, out=out), lambda: tessera.transpose(x),
                 lambda: tessera.correlate_separable(x, [mask[0], mask[1]]), lambda: tessera.take(x, index, 0), lambda: tessera.lookup(x, index),
                 lambda: tessera.sum(x, axis=0, offsets=offsets), lambda: plan(x, out=np.empty(4)), lambda: tessera.sum(Producer(x)),
                 lambda: tessera.transpose(memoryview(x)), lambda: np.from_dlpack(tessera.transpose(memoryview(x))), lambda: tessera.correlate(x, [[1, 2]]),
                 lambda: tessera.plan(tessera.correlate, x, mask, report=report), lambda: tessera.sum(x, axis=7), lambda: tessera.correlate(x, mask, out=x),
                 lambda: tessera.correlate(x, [[[1]]]), lambda: tessera.correlate_separable(x, [mask[0], mask]), lambda: tessera.take(x, [99]),
                 lambda: tessera.lookup(x, "abc"), lambda: tessera.sum(x, offsets="abc"), lambda: tessera.sum(x, dtype="abc"), lambda: plan(x.T),
                 lambda: tessera.transpose(x, out=b"a"), lambda: tessera.sum(x, strategy=3), lambda: tessera.take(x, [0.5], 0),
                 lambda: tessera.explain(tessera.sum, x), lambda: tessera.explain(tessera.sum, x, format="json"), lambda: tessera.sum(x, bogus=1),
                 lambda: tessera.interp([0.5], [0, 1], x[0, :2])]

        def rounds(count):
            for call in calls:
                for _ in range(count):
                    try:
                        call()
                    except (ValueError, TypeError, IndexError):
                        pass

        def counts():
            gc.collect()
            if sys.version_info < (3, 12):
                sys._clear_type_cache()  # each of its 4096 empty entries counts a reference to None, each in use does not
            return [sys.getrefcount(w) for w in watched]
        rounds(3)
        before = counts()
        rounds(50)
        for value, a, b in zip(watched, before, counts()):
            self.assertLess(abs(b - a), 5, repr(value)[:60])

    def test_every_allocation_may_fail(self):
        """Python's allocations fail one after the other: each call ends with its result or a MemoryError and no other error."""
        try:
            import _testcapi
            _testcapi.set_nomemory
        except (ImportError, AttributeError):
            self.skipTest("this Python has no _testcapi.set_nomemory")
        x, mask, index = np.ones((4, 4)), np.ones((2, 2)), np.zeros(3, int)
        large = tessera.transpose(memoryview(np.ones((1000, 2001), "u1")))
        plan = tessera.plan(tessera.transpose, np.ones((1000, 2001), "u1"))
        calls = (lambda: tessera.sum(x, axis=0, report={}), lambda: tessera.sum(memoryview(x), axis=0), lambda: tessera.correlate(x, mask),
                 lambda: tessera.correlate(x, [[1, 2]]), lambda: tessera.correlate_separable(x, [mask[0], mask[1]]), lambda: tessera.take(x, index, 0),
                 lambda: tessera.plan(tessera.sum, x, axis=0)(x), lambda: plan.explain(), lambda: plan.shape, lambda: repr(plan), lambda: large.shape,
                 lambda: repr(large), lambda: large.__dlpack__(max_version=(1, 1)), lambda: np.from_dlpack(large).shape, lambda: tessera.set_threads(0),
                 lambda: tessera.strategies("reduce"), lambda: tessera.wisdom.text(), lambda: tessera.devices("json"))
        for number, call in enumerate(calls):
            whole = at = 0
            while whole < 10 and at < 200:
                _testcapi.set_nomemory(at, at + 1)
                try:
                    call()
                    error = None
                except BaseException as caught:
                    error = caught
                _testcapi.remove_mem_hooks()
                self.assertIn(type(error), (type(None), MemoryError), (number, at))
                whole += error is None
                at += 1

    @unittest.skipIf(ASAN, "AddressSanitizer keeps freed memory for a while")
    def test_memory_is_let_go(self):
        x = np.ones((128, 128), "f4")
        view = memoryview(x)
        odd = np.zeros(20000, [("a", "u1"), ("b", "f4")])["b"]

        def rounds():
            for _ in range(300):
                tessera.transpose(x)
                tessera.transpose(view)
                tessera.sum(Producer(x), axis=0)
                np.from_dlpack(tessera.transpose(view))
                tessera.transpose(view).__dlpack__()
                tessera.transpose(view).__dlpack__(max_version=(1, 0))
                tessera.sum(odd)
                tessera.plan(tessera.correlate, x, x[:64, :64].copy())
                try:
                    tessera.lookup(x, [500])
                except IndexError:
                    pass
        rounds()
        before = resident()
        rounds()
        self.assertLess(resident() - before, 32 << 20)

    def test_owners_live_as_long_as_their_views(self):
        own = tessera.transpose(memoryview(np.arange(6.0).reshape(2, 3)))
        seen, shared = np.asarray(own), np.from_dlpack(own)
        capsule = own.__dlpack__()
        del own
        gc.collect()
        trash = [np.full(6, 7.0) for _ in range(50)]
        self.assertEqual(seen.tolist(), [[0, 3], [1, 4], [2, 5]])
        self.assertEqual(shared.tolist(), seen.tolist())
        del capsule, seen, trash
        self.assertEqual(shared.tolist(), [[0, 3], [1, 4], [2, 5]])

        class Array(np.ndarray):
            pass
        x = np.ones(8).view(Array)
        gone = weakref.ref(x)
        tessera.sum(x)
        del x
        self.assertIsNone(gone())

    def test_dlpack_deleter_is_called_once(self):
        class Tensor(ctypes.Structure):
            _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int * 2), ("ndim", ctypes.c_int), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
                        ("context", ctypes.c_void_p), ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]
        deleted = []
        data, shape = (ctypes.c_double * 5)(9, 1, 2, 3, 4), (ctypes.c_int64 * 1)(4)
        tensor = Tensor(ctypes.addressof(data), (1, 0), 1, 2, 64, 1, shape, None, 8, None, ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleted.append))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

        class Raw:
            def __dlpack__(self, **_):
                return new(ctypes.addressof(tensor), b"dltensor", None)
        self.assertEqual(tessera.sum(Raw()), 10)  # byte_offset 8: the 9 is not part of it
        self.assertEqual(len(deleted), 1)
        with self.assertRaises(ValueError):
            tessera.sum(Raw(), axis=3)
        self.assertEqual(len(deleted), 2)
        tensor.bits = 12
        with self.assertRaisesRegex(TypeError, "12 bits"):
            tessera.sum(Raw())
        self.assertEqual(len(deleted), 3)

    def test_a_resized_buffer_is_refused_while_in_use(self):
        x = array.array("d", range(4))
        tessera.sum(x)
        x.append(5.0)  # BufferError if a view had been kept
        own = tessera.transpose(memoryview(x))
        self.assertEqual(tessera.sum(own), 11)


class Threads(unittest.TestCase):
    def test_many_threads(self):
        x = np.random.default_rng(0).random((200, 300)).astype("f4")
        want = (tessera.sum(x), tessera.transpose(x).tobytes(), tessera.correlate(x, [[1, 2, 1]]).tobytes())
        plan = tessera.plan(tessera.sum, x)
        wrong = []

        def work(k):
            for round in range(40):
                got = (tessera.sum(x), tessera.transpose(x).tobytes(), tessera.correlate(x, [[1, 2, 1]]).tobytes())
                if got != want or plan(x) != want[0]:
                    wrong.append(k)
                if k == 0:
                    tessera.set_threads(round % 3)
                try:
                    tessera.sum(x, axis=9)
                except ValueError as error:
                    if "9" not in str(error):
                        wrong.append(error)
        threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        tessera.set_threads(0)
        self.assertEqual(wrong, [])

    def test_references_are_counted_with_the_gil(self):
        """A reference counted after the GIL was let go loses its race once in some thousand calls: the context's count would drift."""
        context, = (o for o in gc.get_referents(tessera._tessera) if type(o).__name__ == "Context")
        x, before = np.ones((80, 80), "f4"), sys.getrefcount(context)

        def work():
            for _ in range(8000 // LESS):
                tessera.correlate(x, x[:1, :3])
        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sys.getrefcount(context), before)

    def assert_gil_is_free_during(self, call):
        """Another thread's clock goes on within the call; one that must wait for the GIL would see none of its time but the ends. Ten tries: machines are busy."""
        for _ in range(10):
            ticks, stop = [], threading.Event()

            def tick():
                while not stop.is_set():
                    ticks.append(time.monotonic())
                    time.sleep(0.001)
            thread = threading.Thread(target=tick)
            thread.start()
            start = time.monotonic()
            call()
            end = time.monotonic()
            stop.set()
            thread.join()
            if sum(start < t < end for t in ticks) > 3:
                return
        self.fail(f"the last of ten calls took {end - start} s")

    def test_the_gil_is_free_during_work(self):
        x, mask = np.ones(((1 << 11) // LESS, 1 << 10), "f4"), np.ones((31, 31), "f4")
        self.assert_gil_is_free_during(lambda: tessera.correlate(x, mask))

    def test_the_gil_is_free_during_planning_and_preparing(self):
        """A mask's transforms are made when it is planned, a table is prepared when few points are interpolated: long work behind few elements of result."""
        image, mask = np.ones((2048, 2048), "f4"), np.random.default_rng(1).random((255, 255), dtype="f4")
        table, points = np.ones(1 << 23), np.array([0.5, 1.5])
        self.assert_gil_is_free_during(lambda: tessera.plan(tessera.correlate, image, mask, accuracy="fft"))
        self.assert_gil_is_free_during(lambda: tessera.lookup(table, points, interpolation="cubic", strategy="lookup/interpolate"))

    def test_a_signal_handler_may_call(self):
        """While the handler runs inside a call it has the GIL, and a call of its own that keeps it must not wait for it."""
        program = """if 1:
            import signal, time, numpy as np, tessera
            image, mask, table, points = np.ones((%d, 2048), "f4"), np.ones((33, 33), "f4"), np.ones(1 << 22), np.array([0.5, 1.5])
            seen = []
            def handler(*_):
                time.sleep(0.06)
                for _ in range(3):
                    tessera.lookup(table, points, interpolation="cubic", strategy="lookup/interpolate")
                    tessera.plan(tessera.correlate, image, mask[:31, :31], accuracy="fft")
                    tessera.sum(table[:1000])
                seen.append(tessera.sum(table))
            signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            while not seen:  # a fast machine is through before the alarm
                total = tessera.correlate(image, mask, strategy="correlate/window")[1000, 1000]
            print(total, seen)
        """ % (4096 // LESS)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.stdout, f"{33.0 * 33} [{float(1 << 22)}]\n", done.stderr)

    def test_a_text_may_grow(self):
        """Another thread learns wisdom between the question for its length and the copy."""
        x, failed = np.ones(4000, "f4"), []
        tessera.wisdom.forget()

        def learn():
            for n in range(1, 300):
                tessera.plan(tessera.sum, x[:2000 + n]).tune(0.0)
        thread = threading.Thread(target=learn)
        thread.start()
        while thread.is_alive():
            try:
                tessera.wisdom.text()
            except ValueError as error:
                failed.append(error)
        self.assertEqual(failed, [])
        tessera.wisdom.forget()

    def test_two_threads_find_numpy(self):
        """Both look up what the module keeps; one of the two references found must be let go."""
        program = """if 1:
            import sys, threading, numpy as np, tessera
            from tessera import _arrays
            real, met = _arrays.numpy_dtype, threading.Barrier(2)
            def slow(name):
                met.wait()
                return real(name)
            _arrays.numpy_dtype = slow
            x = np.ones((4, 4), "f2")
            before = sys.getrefcount(np.float16)
            threads = [threading.Thread(target=tessera.sum, args=(x, 0)) for _ in range(2)]
            [t.start() for t in threads], [t.join() for t in threads]
            print(sys.getrefcount(np.float16) - before)
        """
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, "1\n", done.stderr)  # the module's own

    def test_a_signal_ends_a_long_call(self):
        class Ended(Exception):
            pass

        def end(*_):
            raise Ended
        before = signal.signal(signal.SIGALRM, end)
        try:
            shape = 4096 // LESS, 4096
            x, mask, out = np.ones(shape, "f4"), np.ones((63, 63), "f4"), np.full(shape, -1, "f4")
            tessera.set_threads(1)  # a second of work, a quarter of a minute with sanitizers
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with self.assertRaises(Ended):
                tessera.correlate(x, mask, strategy="correlate/window", out=out)
            self.assertEqual(out[-1, -1], -1)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            tessera.set_threads(0)
            signal.signal(signal.SIGALRM, before)
        self.assertEqual(tessera.sum(np.ones(3)), 3)

    def test_a_daemon_thread_at_the_end(self):
        """The interpreter ends while a thread that nobody waits for is in the library, at a depth of the stack that is given back when a thread ends."""
        program = """if 1:
            import json, threading, time, numpy as np, tessera
            x, mask = np.ones((8192, 4096), "f4"), np.random.default_rng(1).random((61, 61), dtype="f4")
            out = np.empty_like(x)
            tessera.set_threads(2)
            def deep(n):
                if n:
                    next(map(deep, [n - 1]))
                while True:
                    tessera.correlate(x, mask, accuracy="fft", out=out)
            threading.Thread(target=deep, args=(150,), daemon=True).start()
            time.sleep(0.6)
            class Slow:
                def __del__(self, sleep=time.sleep):
                    sleep(0.5)
            json._slow = Slow()  # lets other threads run while modules are taken down
        """
        for _ in range(3):
            self.assertEqual(subprocess.run([sys.executable, "-c", program], timeout=120).returncode, 0)

    def test_after_fork(self):
        x = np.ones((1000, 1000), "f4")
        tessera.sum(x)
        child = os.fork()
        if child == 0:
            os._exit(0 if tessera.sum(x) == 1e6 else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_signal_after_fork(self):
        """A child that another thread than the main one forked has that as its main thread: signals end its calls."""
        status = []

        def work():
            child = os.fork()
            if child == 0:
                def end(*_):
                    raise KeyError
                signal.signal(signal.SIGALRM, end)
                signal.setitimer(signal.ITIMER_REAL, 0.2)
                try:
                    tessera.correlate(np.ones((4096 // LESS, 4096), "f4"), np.ones((63, 63), "f4"), strategy="correlate/window")
                except KeyError:
                    os._exit(0)
                os._exit(1)
            status.append(os.waitpid(child, 0)[1])
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        self.assertEqual(status, [0])


class Interpreters(unittest.TestCase):
    def test_sub_interpreters(self):
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            try:
                import _interpreters as interpreters
            except ImportError:
                self.skipTest("this Python has no module for sub-interpreters")
        script = f"import sys; sys.path[:] = {sys.path!r}\nimport array, tessera\nassert tessera.sum(array.array('d', [1, 2])) == 3\n" \
                 "assert tessera.plan('sum', array.array('d', [1, 2]))(array.array('d', [3, 4])) == 7\n"
        for _ in range(3):
            made = interpreters.create()
            failed = interpreters.run_string(made, script)
            self.assertIsNone(failed)
            interpreters.destroy(made)
        self.assertEqual(tessera.sum(array.array("d", [1, 2])), 3)


if __name__ == "__main__":
    unittest.main()
