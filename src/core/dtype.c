/* SPDX-License-Identifier: Apache-2.0
 * dtype.c - the table of element types and DLPack's codes for them. */
#include "core/dtype.h"

#include <string.h>

static const struct {
    const char *name;
    uint8_t code, bits;
} types[TESS_TYPES] = {
    [tess_no_type] = {"?", 0, 0},         [tess_bool] = {"bool", kDLBool, 8},
    [tess_u8] = {"u8", kDLUInt, 8},       [tess_i8] = {"i8", kDLInt, 8},
    [tess_u16] = {"u16", kDLUInt, 16},    [tess_i16] = {"i16", kDLInt, 16},
    [tess_u32] = {"u32", kDLUInt, 32},    [tess_i32] = {"i32", kDLInt, 32},
    [tess_u64] = {"u64", kDLUInt, 64},    [tess_i64] = {"i64", kDLInt, 64},
    [tess_f16] = {"f16", kDLFloat, 16},   [tess_bf16] = {"bf16", kDLBfloat, 16},
    [tess_f32] = {"f32", kDLFloat, 32},   [tess_f64] = {"f64", kDLFloat, 64},
    [tess_c64] = {"c64", kDLComplex, 64}, [tess_c128] = {"c128", kDLComplex, 128},
};

static bool known(tess_type type) { return (unsigned)type - 1u < TESS_TYPES - 1u; } /* whatever the enum's sign */

DLDataType tess_dl_type(tess_type type) {
    DLDataType dtype = {0, 0, 0};
    if (known(type)) {
        dtype.code = types[type].code;
        dtype.bits = types[type].bits;
        dtype.lanes = 1;
    }
    return dtype;
}

tess_type tess_type_of(DLDataType dtype) {
    if (dtype.lanes == 1)
        for (int t = 1; t < TESS_TYPES; t++)
            if (types[t].code == dtype.code && types[t].bits == dtype.bits)
                return (tess_type)t;
    return tess_no_type;
}

const char *tess_type_name(tess_type type) { return known(type) ? types[type].name : "?"; }

tess_type tess_type_named(const char *name) {
    for (int t = 1; name && t < TESS_TYPES; t++)
        if (strcmp(types[t].name, name) == 0)
            return (tess_type)t;
    return tess_no_type;
}

size_t tess_type_size(tess_type type) { return known(type) ? types[type].bits / 8u : 0; }
