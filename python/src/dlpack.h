/* SPDX-License-Identifier: Apache-2.0
 * dlpack.h - the parts of DLPack that travel between Python libraries, beside the DLTensor that tessera.h has.
 *
 * Layouts as in DLPack 1.3 (https://dmlc.github.io/dlpack): the managed tensor, its versioned successor, and the table of C functions that a
 * type may carry so that no capsule is made. */
#ifndef TESSERA_PYTHON_DLPACK_H
#define TESSERA_PYTHON_DLPACK_H

#include "tessera.h"

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct {
    uint32_t major, minor;
} DLPackVersion;

#define DLPACK_FLAG_BITMASK_READ_ONLY ((uint64_t)1)

typedef struct DLManagedTensorVersioned {
    DLPackVersion version; /* another major number: nothing but deleter may be read */
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

/* What `type.__dlpack_c_exchange_api__` points to, a capsule named "dlpack_exchange_api". Each returns 0, or -1 with a Python error set. */
typedef struct DLPackExchangeAPI {
    DLPackVersion version;
    struct DLPackExchangeAPI *previous;
    int (*allocate)(DLTensor *prototype, DLManagedTensorVersioned **out, void *error,
                    void (*set_error)(void *error, const char *kind, const char *text));
    int (*managed_from_object)(void *object, DLManagedTensorVersioned **out);
    int (*managed_to_object)(DLManagedTensorVersioned *tensor, void **out_object);
    int (*view_of_object)(void *object, DLTensor *out); /* may be NULL; valid while the object lives */
    int (*current_stream)(DLDeviceType device, int32_t id, void **out_stream);
} DLPackExchangeAPI;

#endif
