/* SPDX-License-Identifier: Apache-2.0
 * maker.h - what is quicker on one maker's processors than on another's, and cannot be told by the instruction set. */
#ifndef TESS_CORE_MAKER_H
#define TESS_CORE_MAKER_H

#include <stdbool.h>

/* Whether the vector gather, where the processor has one, is quicker than a load an element. */
bool tess_cpu_gathers(void);
/* From now on tess_cpu_gathers() says so, whatever the processor: for tests, which must see both ways. */
void tess_cpu_pretend_gathers(bool yes);

/* Whether plain reading in address order gains when lines are asked for ahead. */
bool tess_cpu_asks_ahead(void);
/* Whether plain reading in address order is quicker by loads of half a line than of a line, where the processor has both, and quicker still by lines that are touched. */
bool tess_cpu_reads_halves(void);
/* Whether plain reading is quicker from two places in turns than in address order. */
bool tess_cpu_reads_in_turns(void);
/* Whether a loop along a line, which computes about as long as it reads, gains when lines a little ahead are asked for in the first-level cache. */
bool tess_cpu_asks_near(void);
/* Whether few places in memory should be on their way at a time where many rows are walked side by side: low bands of wide blocks, requests a KiB ahead, streams. */
bool tess_cpu_keeps_few_places(void);
/* Whether it is a Zen 5 or later: for tables of sizes that were measured there. */
bool tess_cpu_is_zen5(void);
/* From now on all of these answer as on a Zen of that generation, 3 to 5, or with another number as on another maker's processor, whatever this one is: for tests, as above. */
void tess_cpu_pretend_zen(int generation);

#endif
