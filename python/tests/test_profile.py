# SPDX-License-Identifier: Apache-2.0
"""Proves: tessera.profile runs kernels on NumPy arrays, in place and by copy, reports counts, faults and outputs, and refuses what it cannot run."""
import unittest

import numpy as np

import tessera

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
ADD = HEAD + """.visible .entry add(.param .u64 x, .param .u64 y, .param .f32 b) {
    .reg .b32 %r<5>; .reg .b64 %a<6>; .reg .f32 %f<4>;
    ld.param.u64 %a1, [x];
    ld.param.u64 %a2, [y];
    ld.param.f32 %f2, [b];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.s32 %r4, %r2, %r3, %r1;
    mul.wide.s32 %a3, %r4, 4;
    add.s64 %a4, %a1, %a3;
    add.s64 %a5, %a2, %a3;
    ld.global.f32 %f1, [%a4];
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%a5], %f3;
    ret;
}
"""


class Profile(unittest.TestCase):
    def test_arrays_and_numbers(self):
        x, y = np.arange(64, dtype="f4"), np.zeros(64, "f4")
        found = tessera.profile(ADD, "add<<<2, 32>>>(in:$0, $1, 1.5f)", x, y)
        self.assertEqual(y.tolist(), (x + 1.5).tolist())
        self.assertEqual([o.tolist() for o in found.outputs], [y.tolist()])
        self.assertEqual((found.faults, found.counter("global_ld_sectors")), ([], 8))
        self.assertIsInstance(found.seconds, float)
        self.assertIn("add", str(found))
        self.assertIsInstance(found.json(), dict)
        self.assertGreater(len(found.html()), 100)
        self.assertTrue(found._repr_html_().startswith("<iframe srcdoc="))
        self.assertIn("0 faults", repr(found))
        with self.assertRaisesRegex(KeyError, "no counter 'x'"):
            found.counter("x")

    def test_read_only_and_generated_arrays(self):
        x = np.arange(64, dtype="f4")
        x.flags.writeable = False
        found = tessera.profile(ADD, "add<<<2, 32>>>(in:f32[64]=ramp, $0, 0.5f)", x, seed=3, threads=1)
        self.assertEqual(x.tolist(), list(range(64)))
        self.assertEqual(found.outputs[0].tolist(), [k + 0.5 for k in range(64)])

    def test_faults(self):
        x = np.zeros(40, "f4")
        found = tessera.profile(ADD, "add<<<2, 32>>>(in:$0, out:f32[64], 0.0f)", x)
        self.assertGreater(len(found.faults), 0)
        self.assertIn(f"{len(found.faults)} faults", repr(found))

    def test_refused(self):
        x = np.zeros(64, "f4")
        for source, launch, arrays, error, text in ((ADD, "add<<<2", (x,), ValueError, ""), (ADD, "sub<<<1, 32>>>", (x,), ValueError, "sub"),
                                                    (HEAD + "nonsense", "add<<<1, 1>>>", (x,), ValueError, ""), (ADD, "add<<<1, 1>>>($7)", (x,), ValueError, ""),
                                                    (ADD, "add<<<1, 32>>>", ("abc",), TypeError, "array 0"), (ADD, 3, (x,), TypeError, "")):
            with self.assertRaisesRegex(error, text):
                tessera.profile(source, launch, *arrays)
        with self.assertRaisesRegex(ValueError, "strides"):
            tessera.profile(ADD, "add<<<1, 32>>>(in:$0, out:f32[64], 0.0f)", np.zeros(64, [("a", "u1"), ("b", "f4")])["b"])


if __name__ == "__main__":
    unittest.main()
