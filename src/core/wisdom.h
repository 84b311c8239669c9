/* SPDX-License-Identifier: Apache-2.0
 * wisdom.h - the shipped layer of wisdom: lines as `tessera tune` writes them, a comment line before each group naming machine and date. */
#ifndef TESS_CORE_WISDOM_H
#define TESS_CORE_WISDOM_H

extern const char tess_wisdom_shipped[];

#endif
