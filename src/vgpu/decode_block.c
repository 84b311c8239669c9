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

static tess_status turn_matrix(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    if (in->modes[0] != PTX_M8N8 || !has_mode(in, PTX_TRANS) || in->types[0] != PTX_B16 || in->operand_count != 2)
        return tess_vgpu_refuse(d, "movmatrix is .m8n8.trans of .b16");
    TESS_TRY(tess_vgpu_destination(d, &in->operand[0], PTX_B32, false, &d->out->d));
    TESS_TRY(tess_vgpu_source(d, &in->operand[1], PTX_B32, false, &d->out->a));
    d->out->run = tess_vgpu_turn_matrix;
    return all_lanes(d);
}

/* ---- products ---- */

/* The shapes that there are; kinds: 1 f16 and bf16, 2 tf32, 4 bytes, 8 f64. */
static const struct {
    ptx_mode mode;
    uint32_t size[3];
    int mma, wmma;
} products[] = {{PTX_M16N8K4, {16, 8, 4}, 2 | 8, 0},     {PTX_M16N8K8, {16, 8, 8}, 1 | 2 | 8, 0}, {PTX_M16N8K16, {16, 8, 16}, 1 | 4 | 8, 0},
                {PTX_M16N8K32, {16, 8, 32}, 4, 0},       {PTX_M8N8K4, {8, 8, 4}, 8, 8},           {PTX_M16N16K8, {16, 16, 8}, 0, 2},
                {PTX_M16N16K16, {16, 16, 16}, 0, 1 | 4}, {PTX_M32N8K16, {32, 8, 16}, 0, 1 | 4},   {PTX_M8N32K16, {8, 32, 16}, 0, 1 | 4}};

static int kind_of(ptx_type type) {
    return type == PTX_F16 || type == PTX_BF16 ? 1 : type == PTX_TF32 ? 2 : type == PTX_S8 || type == PTX_U8 ? 4 : type == PTX_F64 ? 8 : 0;
}

static const uint32_t *product_size(const ptx_instruction *in, int kind) {
    for (int i = 0; i < TESS_COUNT(products); i++)
        if (has_mode(in, products[i].mode) && (kind ? kind & (in->op == PTX_OP_MMA ? products[i].mma : products[i].wmma) : 1))
            return products[i].size;
    return NULL;
}

static bool sums(ptx_type sum, ptx_type product) {
    int kind = kind_of(product);
    return kind == 4 ? sum == PTX_S32 : kind == 8 ? sum == PTX_F64 : sum == PTX_F32 || (sum == PTX_F16 && product == PTX_F16);
}

/* The registers of one operand into the list; wmma has 8 for a or b of .f16 whatever the shape. */
static tess_status registers(vgpu_decoder *d, const ptx_operand *o, vgpu_part part, ptx_type type, const uint32_t size[3], bool write,
                             uint32_t *slots, uint32_t *count) {
    uint32_t bytes = (uint32_t)tess_vgpu_type_bytes(type), elements = size[part == VGPU_RIGHT ? 2 : 0] * size[part == VGPU_LEFT ? 2 : 1] / 32;
    *count = bytes == 8 ? elements : elements * bytes / 4;
    if (d->in->op == PTX_OP_WMMA && part != VGPU_SUM && type == PTX_F16)
        *count = 8;
    if (o->kind == PTX_VECTOR ? (uint32_t)o->elements != *count : *count != 1)
        return tess_vgpu_refuse(d, "%u registers are needed for a matrix of .%s", *count, tess_vgpu_type_name(type));
    for (uint32_t i = 0; i < *count; i++) {
        const ptx_operand *e = o->kind == PTX_VECTOR ? &o->element[i] : o;
        ptx_type own = bytes == 8 ? PTX_B64 : PTX_B32;
        TESS_TRY(write ? tess_vgpu_destination(d, e, own, false, &slots[i]) : tess_vgpu_source(d, e, own, false, &slots[i]));
    }
    return TESS_OK;
}

static tess_status keep(vgpu_decoder *d, const uint32_t *words, uint32_t count, vgpu_handler run) {
    uint32_t *list;
    TESS_TRY(tess_vgpu_list(d, (int)count, &d->out->target, &list));
    for (uint32_t i = 0; i < count; i++)
        list[i] = words[i];
    d->out->run = run;
    return all_lanes(d);
}

/* mma and wmma.mma: d, a, b, c. The list: fragment.c. */
static tess_status multiply(vgpu_decoder *d) {
    static const vgpu_part parts[] = {VGPU_SUM, VGPU_LEFT, VGPU_RIGHT, VGPU_SUM};
    const ptx_instruction *in = d->in;
    bool two = in->op == PTX_OP_WMMA && in->type_count == 2; /* .f16: only of d and c */
    ptx_type type[] = {in->types[0], two ? PTX_F16 : in->types[1], two ? PTX_F16 : in->types[2], two ? in->types[1] : in->types[3]};
    const uint32_t *size = kind_of(type[1]) ? product_size(in, kind_of(type[1])) : NULL;
    bool alike = type[1] == type[2] || (kind_of(type[1]) == 4 && kind_of(type[2]) == 4);
    if (!size || (in->type_count != 4 && !two) || !alike || !sums(type[0], type[1]) || !sums(type[3], type[1]) || in->operand_count != 4 ||
        (in->op == PTX_OP_MMA && (!has_mode(in, PTX_ROW) || !has_mode(in, PTX_COL))))
        return tess_vgpu_refuse(
            d, "products of matrices are there for f16, bf16, tf32, 8-bit integers and f64, not sparse, in the shapes of src/vgpu/README.md");
    uint32_t words[11 + 4 * 16], used = 11;
    for (int i = 0; i < 3; i++)
        words[i] = size[i];
    for (int i = 0; i < 4; i++) {
        words[3 + i] = (uint32_t)type[i];
        TESS_TRY(registers(d, &in->operand[i], parts[i], type[i], size, i == 0, words + used, &words[7 + i]));
        used += words[7 + i];
    }
    return keep(d, words, used, tess_vgpu_multiply);
}

/* What a lane does of a product's 2 m n k operations; 0: no product. */
uint64_t tess_vgpu_product_flops(const ptx_instruction *in, ptx_type *type) {
    if (in->op != PTX_OP_MMA && !(in->op == PTX_OP_WMMA && in->modes[0] == PTX_MMA))
        return 0;
    *type = in->type_count == 4 ? in->types[1] : PTX_F16;
    const uint32_t *size = product_size(in, kind_of(*type));
    return size ? 2ull * size[0] * size[1] * size[2] / 32 : 0;
}

/* wmma.load.a [address], stride: registers from memory; wmma.store.d the other way. The list: fragment.c. */
static tess_status move_fragment(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    vgpu_record *r = d->out;
    bool store = in->modes[0] == PTX_STORE;
    vgpu_part part = has_mode(in, PTX_PART_A) ? VGPU_LEFT : has_mode(in, PTX_PART_B) ? VGPU_RIGHT : VGPU_SUM;
    ptx_type type = in->types[0];
    ptx_space space = in->space;
    const uint32_t *size = product_size(in, part == VGPU_SUM ? 0 : kind_of(type));
    bool known = part == VGPU_SUM ? type == PTX_F16 || type == PTX_F32 || type == PTX_S32 || type == PTX_F64 : kind_of(type) != 0;
    if (!size || !known || in->type_count != 1 || in->operand_count < 2 || in->operand_count > 3 ||
        (space != PTX_GENERIC && space != PTX_GLOBAL && space != PTX_SHARED))
        return tess_vgpu_refuse(d, "this matrix is not supported");
    uint32_t words[8 + 16] = {size[0], size[1], size[2], (uint32_t)type, (uint32_t)part, has_mode(in, PTX_COL), VGPU_NO_SLOT};
    TESS_TRY(registers(d, &in->operand[store ? 1 : 0], part, type, size, !store, words + 8, &words[7]));
    TESS_TRY(tess_vgpu_decode_address(d, &in->operand[store ? 0 : 1], &space, &r->e));
    if (in->operand_count == 3)
        TESS_TRY(tess_vgpu_source(d, &in->operand[2], PTX_B32, false, &words[6]));
    r->space = (uint8_t)space;
    r->count = 1;
    r->bytes = (uint8_t)tess_vgpu_type_bytes(type);
    return keep(d, words, 8 + words[7], tess_vgpu_move_fragment);
}

tess_status tess_vgpu_decode_matrix(vgpu_decoder *d) {
    switch (d->in->op) {
    case PTX_OP_MMA: return multiply(d);
    case PTX_OP_WMMA:
        return d->in->modes[0] == PTX_MMA                                    ? multiply(d)
               : d->in->modes[0] == PTX_LOAD || d->in->modes[0] == PTX_STORE ? move_fragment(d)
                                                                             : tess_vgpu_refuse(d, "wmma is .load, .store or .mma");
    case PTX_OP_MOVMATRIX: return turn_matrix(d);
    default: return move_matrix(d);
    }
}
