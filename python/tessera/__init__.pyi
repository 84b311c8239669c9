# SPDX-License-Identifier: Apache-2.0
from . import ndimage as ndimage
from ._functions import explain as explain, interp as interp, plan as plan, profile as profile, wisdom as wisdom
from ._tessera import (Array as Array, AxisError as AxisError, EngineError as EngineError, Plan as Plan, Profile as Profile, __version__ as __version__, all as all,
                       any as any, argmax as argmax, argmin as argmin, convolve as convolve, convolve_separable as convolve_separable,
                       correlate as correlate, correlate_separable as correlate_separable, count_nonzero as count_nonzero, devices as devices,
                       limits as limits, lookup as lookup, max as max, mean as mean, min as min, norm as norm, permute_dims as permute_dims,
                       prod as prod, set_threads as set_threads, std as std, strategies as strategies, sum as sum, take as take, threads as threads,
                       transpose as transpose, var as var)

__all__: list[str]
