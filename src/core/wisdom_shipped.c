/* SPDX-License-Identifier: Apache-2.0
 * wisdom_shipped.c - the shipped layer: decisions of the tables that measurement overruled, machine by machine. Empty while the tables' own order is
 * the measured one on the machines that we have. */
#include "core/wisdom.h"

const char tess_wisdom_shipped[] = "";
