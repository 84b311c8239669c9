/* SPDX-License-Identifier: Apache-2.0
 * decode_block.c - the opcodes that work on blocks of data: barriers with transaction counts, bulk copies, matrices. Their operands do not fit into a
 * record and go into the module's lists. */
#include "vgpu/decode.h"

static bool has_mode(const ptx_instruction *in, ptx_mode mode) {
    for (int i = 0; i < in->mode_count; i++)
        if (in->modes[i] == mode)
            return true;
    return false;
}

/* ---- mbarrier ---- */

/* d: the state or predicate; e: the address; a: count, bytes, state or parity; mode: what is done; count: 1 with expect_tx or parity. */
tess_status tess_vgpu_decode_mbarrier(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    vgpu_record *r = d->out;
    const ptx_operand *o = in->operand;
    int count = in->operand_count;
    ptx_space space = in->space == PTX_GENERIC ? PTX_GENERIC : PTX_SHARED;
    ptx_mode mode = in->modes[0];
    bool wait = mode == PTX_TRY_WAIT || mode == PTX_TEST_WAIT, arrive = mode == PTX_ARRIVE || mode == PTX_ARRIVE_DROP;
    bool expect = arrive && has_mode(in, PTX_EXPECT_TX), parity = wait && has_mode(in, PTX_PARITY);
    if (in->type_count != 1 || in->types[0] != PTX_B64 || (in->space != PTX_GENERIC && in->space != PTX_SHARED))
        return tess_vgpu_refuse(d, "an mbarrier is a .b64 in shared memory");
    if (!wait && !arrive && mode != PTX_INIT && mode != PTX_INVAL && mode != PTX_EXPECT_TX && mode != PTX_COMPLETE_TX)
        return tess_vgpu_refuse(d, "this operation on an mbarrier is not supported");
    if (wait || arrive) {
        if (count && o[0].kind != PTX_ADDRESS) { /* arrive may go without a state */
            TESS_TRY(tess_vgpu_destination(d, &o[0], wait ? PTX_PRED : PTX_B64, false, &r->d));
            o++;
            count--;
        } else if (wait) {
            return tess_vgpu_refuse(d, "a predicate is needed for the answer");
        }
    }
    int least = mode == PTX_INVAL || (arrive && !expect) ? 1 : 2;
    if (count < least || count > 2 + wait || (mode == PTX_INVAL && count != 1))
        return tess_vgpu_refuse(d, "%d operands do not fit", in->operand_count);
    TESS_TRY(tess_vgpu_decode_address(d, &o[0], &space, &r->e));
    if (count > 1)
        TESS_TRY(tess_vgpu_source(d, &o[1], wait && !parity ? PTX_B64 : PTX_B32, false, &r->a));
    else
        TESS_TRY(tess_vgpu_constant(d, 1, 4, &r->a));
    r->space = (uint8_t)space;
    r->bytes = 8;
    r->mode = (uint8_t)mode;
    r->count = expect || parity;
    r->run = tess_vgpu_mbarrier;
    return TESS_OK;
}

/* ---- bulk copies ---- */

/* The address of one side: its slot and offset into the list. */
static tess_status side(vgpu_decoder *d, const ptx_operand *o, ptx_space space, uint32_t *entry) {
    uint8_t flags = d->out->flags;
    uint32_t slot;
    TESS_TRY(tess_vgpu_decode_address(d, o, &space, &slot));
    bool narrow = d->out->flags & VGPU_ADDRESS32;
    if (d->out->flags & (VGPU_FRAME | VGPU_DYNAMIC))
        return tess_vgpu_refuse(d, "the address must be in a register");
    d->out->flags = flags;
    entry[0] = slot;
    entry[1] = (uint32_t)(uint64_t)d->out->offset;
    entry[2] = (uint32_t)((uint64_t)d->out->offset >> 32);
    entry[3] = narrow;
    d->out->offset = 0;
    return TESS_OK;
}

/* cp.async.bulk.shared.global.mbarrier::complete_tx::bytes [to], [from], size, [barrier] and .global.shared.bulk_group [to], [from], size.
 * List: four words for each of to, from, barrier; then the slot of the size. */
tess_status tess_vgpu_decode_bulk(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    vgpu_record *r = d->out;
    bool in_way = in->space == PTX_SHARED && in->second_space == PTX_GLOBAL, out_way = in->space == PTX_GLOBAL && in->second_space == PTX_SHARED;
    if (has_mode(in, PTX_COMMIT) || has_mode(in, PTX_WAIT)) /* all is done already */
        return TESS_OK;
    if (in_way ? in->operand_count != 4 || !has_mode(in, PTX_COMPLETE_TX) : !out_way || in->operand_count != 3 || !has_mode(in, PTX_BULK_GROUP))
        return tess_vgpu_refuse(d, "bulk copies go from global to shared memory with an mbarrier, or from shared to global memory in a group");
    uint32_t words[13] = {0}, *list;
    TESS_TRY(side(d, &in->operand[0], in->space, words));
    TESS_TRY(side(d, &in->operand[1], in->second_space, words + 4));
    if (in_way)
        TESS_TRY(side(d, &in->operand[3], PTX_SHARED, words + 8));
    TESS_TRY(tess_vgpu_source(d, &in->operand[2], PTX_B32, false, &words[12]));
    TESS_TRY(tess_vgpu_list(d, TESS_COUNT(words), &r->target, &list));
    for (int i = 0; i < TESS_COUNT(words); i++)
        list[i] = words[i];
    r->space = (uint8_t)in->space;
    r->mode = PTX_BULK;
    r->bytes = 16;
    r->count = 1;
    r->run = tess_vgpu_bulk;
    return TESS_OK;
}

/* ---- matrices ---- */

static tess_status all_lanes(vgpu_decoder *d) { return tess_vgpu_constant(d, UINT32_MAX, 4, &d->out->f); }

static tess_status move_matrix(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    vgpu_record *r = d->out;
    bool load = in->op == PTX_OP_LDMATRIX;
    int count = has_mode(in, PTX_X1) ? 1 : has_mode(in, PTX_X2) ? 2 : has_mode(in, PTX_X4) ? 4 : 0;
    ptx_space space = in->space;
    if (!count || in->modes[0] != PTX_M8N8 || in->types[0] != PTX_B16 || in->operand_count != 2 || (space != PTX_SHARED && space != PTX_GENERIC))
        return tess_vgpu_refuse(d, "matrices are .m8n8 of .b16 in shared memory, .x1, .x2 or .x4 of them");
    const ptx_operand *v = &in->operand[load ? 0 : 1];
    uint32_t *field[] = {load ? &r->d : &r->a, load ? &r->a : &r->b, load ? &r->b : &r->c, load ? &r->c : &r->d};
    if (v->kind == PTX_VECTOR ? v->elements != count : count != 1)
        return tess_vgpu_refuse(d, "%d registers are needed", count);
    for (int i = 0; i < count; i++) {
        const ptx_operand *e = v->kind == PTX_VECTOR ? &v->element[i] : v;
        TESS_TRY(load ? tess_vgpu_destination(d, e, PTX_B32, false, field[i]) : tess_vgpu_source(d, e, PTX_B32, false, field[i]));
    }
    TESS_TRY(tess_vgpu_decode_address(d, &in->operand[load ? 1 : 0], &space, &r->e));
    r->space = (uint8_t)space;
    r->bytes = 16;
    r->count = (uint8_t)count;
    r->mode = has_mode(in, PTX_TRANS);
    r->run = load ? tess_vgpu_load_matrix : tess_vgpu_store_matrix;
    return all_lanes(d);
}

/* List: slots of d, a, b, c. bytes: type of a and b; count: of c and d; mode: how many columns a has. */
static tess_status multiply(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    vgpu_record *r = d->out;
    ptx_type product = in->types[1];
    int k = in->modes[0] == PTX_M16N8K4 ? 4 : in->modes[0] == PTX_M16N8K8 ? 8 : in->modes[0] == PTX_M16N8K16 ? 16 : 0;
    bool tf32 = product == PTX_TF32, half = product == PTX_F16 || product == PTX_BF16;
    if (in->type_count != 4 || in->types[2] != product || in->types[3] != in->types[0] || !(tf32 ? k == 4 || k == 8 : half && (k == 8 || k == 16)) ||
        (in->types[0] != PTX_F32 && !(in->types[0] == PTX_F16 && product == PTX_F16)) || in->operand_count != 4 || !has_mode(in, PTX_ROW) ||
        !has_mode(in, PTX_COL))
        return tess_vgpu_refuse(d, "mma is supported for m16n8k8 and m16n8k16 of f16 and bf16, m16n8k4 and m16n8k8 of tf32, row.col");
    int cd = in->types[0] == PTX_F16 ? 2 : 4, a = tf32 ? k / 2 : k / 4, b = a / 2;
    const int parts[] = {cd, a, b, cd};
    uint32_t slots[16], *list;
    int n = 0;
    for (int i = 0; i < 4; i++) {
        const ptx_operand *o = &in->operand[i];
        if (o->kind == PTX_VECTOR ? o->elements != parts[i] : parts[i] != 1)
            return tess_vgpu_refuse(d, "operand %d needs %d registers", i + 1, parts[i]);
        for (int j = 0; j < parts[i]; j++) {
            const ptx_operand *e = o->kind == PTX_VECTOR ? &o->element[j] : o;
            TESS_TRY(i ? tess_vgpu_source(d, e, PTX_B32, false, &slots[n]) : tess_vgpu_destination(d, e, PTX_B32, false, &slots[n]));
            n++;
        }
    }
    TESS_TRY(tess_vgpu_list(d, n, &r->target, &list));
    for (int i = 0; i < n; i++)
        list[i] = slots[i];
    r->bytes = (uint8_t)product;
    r->count = (uint8_t)in->types[0];
    r->mode = (uint8_t)k;
    r->run = tess_vgpu_multiply;
    return all_lanes(d);
}

tess_status tess_vgpu_decode_matrix(vgpu_decoder *d) { return d->in->op == PTX_OP_MMA ? multiply(d) : move_matrix(d); }
