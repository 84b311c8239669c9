/* SPDX-License-Identifier: Apache-2.0
 * test_random.c - proves: of random problems (random_draws.h) the row that is chosen for the CPU and every other give the reference's bytes on every instruction set, as processors of
 * any maker and generation would, with one thread and several, write nothing beside them, and refuse what the reference refuses. */
#include "core/maker.h"
#include "cpu_contexts.h"
#include "random_draws.h"

/* Whether the row does as the reference did. */
static bool same(int number, const problem *p, const hostile_array *expected, tess_status status, const char *row) {
    hostile_array result;
    DLTensor in = p->in.tensor;
    random_twin(&result, &p->out);
    in.data = p->in_place ? result.tensor.data : in.data;
    const tess_status here = random_run(contexts[number], p, &in, &p->second[0].tensor, &result.tensor, TESS_ENGINE_CPU, row);
    const bool refuses = row && here == TESS_ERR_STRATEGY, differs = here == TESS_OK && memcmp(result.block, expected->block, result.block_size) != 0;
    const bool as_expected = refuses || (here == status && !differs);
    if (!as_expected && here != status)
        print_message("%s, context %d, %s: %s where the reference says %s\n", described(p), number, row ? row : "the chosen row",
                      tess_status_name(here), tess_status_name(status));
    else if (!as_expected)
        print_message("%s, context %d, %s: other bytes, of elements from number %lld on\n", described(p), number, row ? row : "the chosen row",
                      (long long)hostile_differs(&result, expected));
    hostile_free(&result);
    return as_expected;
}

/* Transforms have the bits of their class, which are those of the first context; all else has the reference's. */
static bool holds(const problem *p, uint64_t *random) {
    hostile_array expected;
    bool all = true;
    DLTensor in = p->in.tensor;
    const bool class = p->operation == &tess_correlate_op && p->correlate.accuracy != TESS_ACCURACY_DIRECT;
    const char *reference = class ? NULL : p->operation->rows[p->operation->count - 1].name;
    random_twin(&expected, &p->out);
    in.data = p->in_place ? expected.tensor.data : in.data;
    const tess_status status = random_run(contexts[0], p, &in, &p->second[0].tensor, &expected.tensor, TESS_ENGINE_CPU, reference);
    for (int i = 0; i < context_count; i++) {
        tess_cpu_pretend_zen((int)hostile_between(random, 2, 5));
        tess_cpu_pretend_gathers(random_chance(random, 50));
        all &= same(i, p, &expected, status, NULL);
    }
    const int number = (int)hostile_between(random, 0, context_count - 1);
    for (int r = 0; status == TESS_OK && r < p->operation->count; r++)
        all &= same(number, p, &expected, status, p->operation->rows[r].name);
    hostile_free(&expected);
    return all;
}

static void sweep(void **state) { random_sweep(*state, holds, 2400); }

int main(void) {
    struct CMUnitTest tests[RANDOM_KINDS];
    random_tests(tests, sweep, NULL, NULL);
    most = 20000;
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
