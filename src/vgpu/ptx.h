/* SPDX-License-Identifier: Apache-2.0
 * ptx.h - a PTX module: what the parser makes of the text, and the records that the decoder makes of that.
 *
 *   text --lex.c--> tokens --parse*.c--> ptx_instruction (names, operands) --decode*.c--> vgpu_record (slots, handler) --exec_*.c--> run
 *
 * Everything hangs on the module's arena and goes with it. */
#ifndef TESS_VGPU_PTX_H
#define TESS_VGPU_PTX_H

#include "core/context.h"

typedef struct vgpu_warp vgpu_warp;
typedef struct vgpu_record vgpu_record;
typedef struct ptx_function ptx_function;

/* ---- types, spaces, opcodes, modifiers ---- */

/* clang-format off */
#define PTX_TYPE_LIST(X)                                                                                                                     \
    X(U8, "u8", 1)                                                                                                                           \
    X(U16, "u16", 2)                                                                                                                         \
    X(U32, "u32", 4)                                                                                                                         \
    X(U64, "u64", 8)                                                                                                                         \
    X(S8, "s8", 1)                                                                                                                           \
    X(S16, "s16", 2)                                                                                                                         \
    X(S32, "s32", 4) X(S64, "s64", 8) X(B8, "b8", 1) X(B16, "b16", 2) X(B32, "b32", 4) X(B64, "b64", 8) X(B128, "b128", 16) X(F16, "f16", 2) \
        X(F16X2, "f16x2", 4) X(BF16, "bf16", 2) X(BF16X2, "bf16x2", 4) X(F32, "f32", 4) X(F64, "f64", 8) X(TF32, "tf32", 4) X(PRED, "pred", 4) \
        X(U16X2, "u16x2", 4) X(S16X2, "s16x2", 4)
/* clang-format on */
typedef enum ptx_type {
    PTX_NO_TYPE,
#define X(name, text, bytes) PTX_##name,
    PTX_TYPE_LIST(X)
#undef X
        PTX_TYPES
} ptx_type;

typedef enum ptx_space { PTX_GENERIC, PTX_GLOBAL, PTX_SHARED, PTX_LOCAL, PTX_CONST, PTX_PARAM, PTX_SPACES } ptx_space;

typedef enum ptx_flow { PTX_PLAIN, PTX_CONVERGE, PTX_BRANCH, PTX_CALL, PTX_RETURN, PTX_EXIT, PTX_BARRIER, PTX_TRAP, PTX_TABLE } ptx_flow;

typedef enum ptx_op {
#define OP(name, mnemonic, operands, flow, semantics) PTX_OP_##name,
#include "vgpu/ptx.def"
#undef OP
    PTX_OPS
} ptx_op;

/* Modifiers that choose among operations, kept in their order; `lo` is both a comparison and the low half. */
/* clang-format off */
#define PTX_MODE_LIST(X)                                                                                                                      \
    X(EQ, "eq")                                                                                                                               \
    X(NE, "ne")                                                                                                                               \
    X(LT, "lt")                                                                                                                               \
    X(LE, "le")                                                                                                                               \
    X(GT, "gt")                                                                                                                               \
    X(GE, "ge")                                                                                                                               \
    X(LO, "lo") X(LS, "ls") X(HI, "hi") X(HS, "hs") X(EQU, "equ") X(NEU, "neu") X(LTU, "ltu") X(LEU, "leu") X(GTU, "gtu") X(GEU, "geu")       \
        X(NUM, "num") X(ISNAN, "nan") X(WIDE, "wide") X(AND, "and") X(OR, "or") X(XOR, "xor") X(ADD, "add") X(MIN, "min") X(MAX, "max")       \
            X(INC, "inc") X(DEC, "dec") X(EXCH, "exch") X(CAS, "cas") X(UP, "up") X(DOWN, "down") X(BFLY, "bfly") X(IDX, "idx") X(ALL, "all") \
                X(ANY, "any") X(BALLOT, "ballot") X(POPC, "popc") X(RED, "red") X(ARRIVE, "arrive") X(LEFT, "l") X(RIGHT, "r") X(F4E, "f4e")  \
                    X(B4E, "b4e") X(RC8, "rc8") X(ECL, "ecl") X(ECR, "ecr") X(RC16, "rc16") X(FINITE, "finite") X(INFINITE, "infinite")       \
                        X(NUMBER, "number") X(NOTANUMBER, "notanumber") X(NORMAL, "normal") X(SUBNORMAL, "subnormal") X(ASYNC, "async")       \
                            X(COMMIT, "commit_group") X(WAIT, "wait_group") X(WAIT_ALL, "wait_all") X(BULK, "bulk") X(BULK_GROUP, "bulk_group") X(MBARRIER, "mbarrier") X(COMPLETE_TX, "complete_tx") \
                                X(BYTES, "bytes") X(INIT, "init") X(INVAL, "inval") X(ARRIVE_DROP, "arrive_drop") X(EXPECT_TX, "expect_tx")           \
                                    X(TRY_WAIT, "try_wait") X(TEST_WAIT, "test_wait") X(PARITY, "parity") X(READ, "read") X(M8N8, "m8n8")             \
                                        X(M16N8K4, "m16n8k4") X(M16N8K8, "m16n8k8") X(M16N8K16, "m16n8k16") X(X1, "x1") X(X2, "x2") X(X4, "x4")       \
                                            X(TRANS, "trans") X(ROW, "row") X(COL, "col") X(PACK, "pack") X(RNA, "rna") X(LOAD, "load") X(STORE, "store") \
                                                X(MMA, "mma") X(PART_A, "a") X(PART_B, "b") X(PART_C, "c") X(PART_D, "d") X(M16N16K16, "m16n16k16")           \
                                                    X(M32N8K16, "m32n8k16") X(M8N32K16, "m8n32k16") X(M16N16K8, "m16n16k8") X(M8N8K4, "m8n8k4")               \
                                                        X(M16N8K32, "m16n8k32")
/* clang-format on */
typedef enum ptx_mode {
    PTX_NO_MODE,
#define X(name, text) PTX_##name,
    PTX_MODE_LIST(X)
#undef X
        PTX_MODES
} ptx_mode;

/* Modifiers that are present or not. */
/* clang-format off */
#define PTX_FLAG_LIST(X)                                                                                                                          \
    X(FTZ, "ftz", 0)                                                                                                                              \
    X(SAT, "sat", 1)                                                                                                                              \
    X(APPROX, "approx", 2)                                                                                                                        \
    X(FULL, "full", 3)                                                                                                                            \
    X(RN, "rn", 4)                                                                                                                                \
    X(RZ, "rz", 5)                                                                                                                                \
    X(RM, "rm", 6) X(RP, "rp", 7) X(RNI, "rni", 8) X(RZI, "rzi", 9) X(RMI, "rmi", 10) X(RPI, "rpi", 11) X(CC, "cc", 12) X(NAN, "NaN", 13)         \
        X(UNI, "uni", 14) X(SYNC, "sync", 15) X(WARP, "warp", 16) X(ALIGNED, "aligned", 17) X(VOLATILE, "volatile", 18) X(NC, "nc", 19)           \
            X(TO, "to", 20) X(V2, "v2", 21) X(V4, "v4", 22) X(WRAP, "wrap", 23) X(CLAMP, "clamp", 24) X(SHIFTAMT, "shiftamt", 25) X(CA, "ca", 26) \
                X(CG, "cg", 27) X(NOFTZ, "noftz", 28) X(V8, "v8", 29) X(RELU, "relu", 30)
/* clang-format on */
enum ptx_flag {
#define X(name, text, bit) PTX_##name = 1 << bit,
    PTX_FLAG_LIST(X)
#undef X
        PTX_ROUNDINGS = PTX_RN | PTX_RZ | PTX_RM | PTX_RP | PTX_RNI | PTX_RZI | PTX_RMI | PTX_RPI
};

int tess_vgpu_type_bytes(ptx_type type);
const char *tess_vgpu_type_name(ptx_type type);

/* ---- tokens (lex.c) ---- */

typedef enum ptx_token_kind { PTX_END, PTX_NAME, PTX_INTEGER, PTX_FLOAT32, PTX_FLOAT64, PTX_STRING, PTX_MARK } ptx_token_kind;
typedef struct ptx_token {
    ptx_token_kind kind;
    const char *at;
    int length, line, column;
    uint64_t bits; /* of a number; the character of a mark */
} ptx_token;
/* Reads the token after *cursor. line_start is where the cursor's line begins. */
tess_status tess_vgpu_lex(ptx_token *token, const char **cursor, int *line, const char **line_start);

/* ---- parsed ---- */

typedef enum ptx_symbol_kind { PTX_REGISTER, PTX_REGISTERS, PTX_VARIABLE, PTX_FUNCTION, PTX_LABEL } ptx_symbol_kind;
typedef struct ptx_symbol {
    const char *name; /* in the module's copy of the text */
    int length;
    ptx_symbol_kind kind;
    ptx_type type;
    ptx_space space;
    uint32_t slot;          /* registers: byte offset of the (first) one in the function's register file */
    uint32_t count;         /* registers: how many; 0 for one plain register */
    uint64_t size, align;   /* variables, bytes */
    uint64_t address;       /* variables: in their space; labels: number of the instruction */
    bool dynamic;           /* shared memory whose size the launch gives */
    bool entry_param;       /* a kernel's parameter: one value for the launch */
    ptx_function *function; /* the function itself; the one that a variable belongs to */
    struct ptx_symbol *next_in_bucket, *shadowed_order;
    int depth; /* of the scope it was declared in */
    int scope; /* labels: number of that scope */
} ptx_symbol;

typedef enum ptx_operand_kind {
    PTX_NONE,
    PTX_REG,
    PTX_IMMEDIATE,
    PTX_ADDRESS,
    PTX_VECTOR,
    PTX_SYMBOL,
    PTX_SINK,
    PTX_SPECIAL,
    PTX_GROUP
} ptx_operand_kind;
typedef struct ptx_operand {
    ptx_operand_kind kind;
    ptx_token_kind literal; /* of an immediate */
    bool negated;           /* !p */
    ptx_type type;          /* of a register's declaration */
    uint32_t slot;          /* register; base register of an address */
    bool has_base;          /* an address with a register */
    int special;
    uint64_t bits;      /* immediate; offset of an address */
    ptx_symbol *symbol; /* variable, function; of an address too */
    const char *name;   /* a label or function not yet known */
    int name_length;
    struct ptx_operand *element; /* of a vector or call group; of p|q the q */
    int elements;
} ptx_operand;

enum { PTX_MAX_OPERANDS = 8 };
typedef struct ptx_instruction {
    ptx_op op;
    ptx_type types[4];
    int type_count, mode_count, operand_count;
    ptx_mode modes[6];
    uint32_t flags;
    ptx_space space, second_space;
    bool guarded, guard_negated;
    uint32_t guard;
    int line, column, file, source_line, scope;
    const char *text; /* of the opcode with its modifiers */
    int text_length;
    ptx_operand operand[PTX_MAX_OPERANDS];
} ptx_instruction;

typedef struct ptx_constant {
    uint32_t slot;
    int bytes;
    uint64_t bits;
} ptx_constant;

/* label: .branchtargets a, b, ...; */
typedef struct ptx_targets {
    const ptx_symbol *label;
    struct {
        const char *name;
        int length;
    } * target;
    int count, room;
    uint32_t list; /* where the records' numbers are in the module's lists */
} ptx_targets;

struct ptx_function {
    ptx_symbol *symbol;
    bool entry, defined;
    const char *refused;            /* why it cannot run, when it holds something that is not supported: what the parser or the decoder said */
    int refused_file, refused_line; /* where that is in the source; line 0: not known */
    int number;
    ptx_symbol **params, **results;
    int param_count, result_count;
    int64_t param_bytes;                           /* kernel: size of the parameter block */
    uint32_t most_threads[3], required_threads[3]; /* kernel: .maxntid, of which the product counts, and .reqntid; zeros: not given */
    int64_t frame_bytes;                           /* a thread's stack for one activation: local variables, parameters, results */
    int64_t shared_bytes;                          /* kernel: static, and where the dynamic part starts */
    uint32_t file_bytes;                           /* registers, constants and special registers of a warp */
    ptx_symbol **labels;
    int label_count, label_room;
    int *scope_parent; /* of each { } in the body; labels belong to one */
    int scope_count, scope_room;
    ptx_targets *tables;
    int table_count, table_room;
    ptx_instruction *code;
    int count, room;
    uint32_t first; /* record of the first instruction */
    ptx_constant *constants;
    int constant_count, constant_room;
    uint32_t special[64]; /* slots of special registers; 0 = not used (slot 0 is never given out) */
    bool *slot_read;      /* by slot / 64: whether any instruction reads the register */
};

/* ---- decoded ---- */

typedef void (*vgpu_handler)(vgpu_warp *warp, const vgpu_record *record, uint32_t mask);

enum vgpu_record_flag {
    VGPU_NEGATED = 1,   /* the guard is !p */
    VGPU_ADDRESS32 = 2, /* the address register has 32 bits */
    VGPU_SIGNED = 4,
    VGPU_FRAME = 8,    /* address relative to the activation's stack frame */
    VGPU_DYNAMIC = 16, /* address relative to the dynamic shared memory */
    VGPU_UNUSED = 32,  /* atomic whose result nobody reads */
    VGPU_PAST_L1 = 32, /* cp.async past the first-level cache, .cg */
    VGPU_VOLATILE = 64,
    VGPU_NOT_C = 128 /* the predicate operand is negated */
};
#define VGPU_NO_SLOT UINT32_MAX

/* Fixed size, one cache line: see the picture at the top of decode.c. */
struct vgpu_record {
    vgpu_handler run;
    uint32_t d, a, b, c, e, f; /* slots: byte offsets in the register file */
    uint32_t guard;            /* slot or VGPU_NO_SLOT */
    uint32_t target;           /* record of a branch; call site number; rounding and the like */
    int64_t offset;            /* of an address; immediate */
    uint32_t line, source;     /* of the PTX; of the source, file in the top 8 bits */
    uint8_t op, flow, flags, space, bytes, count, register_bytes, mode;
};
_Static_assert(sizeof(vgpu_record) == 64, "a record is one cache line");

typedef struct vgpu_value {
    int64_t offset, bytes; /* of an argument or result in the caller's frame */
} vgpu_value;
typedef struct vgpu_call_site {
    const ptx_function *callee; /* NULL: each lane's register says which */
    vgpu_value *arguments, *results;
    int argument_count, result_count;
} vgpu_call_site;

typedef struct ptx_arena_block ptx_arena_block;
typedef struct ptx_pointer_fixup {
    uint64_t variable, offset, value;
} ptx_pointer_fixup;

typedef struct vgpu_audit {
    uint8_t verdict, bytes, copies; /* a tess_vgpu_verdict; the width of a merged access; how many instructions an access has become */
    bool no_branch;                 /* of a branch: there is none, its lanes are told apart by guards */
    bool spills;                    /* registers are kept in local memory on this line */
} vgpu_audit;

/* What the machine code does on the line of a record and the PTX does not, as often as another one is issued. */
typedef enum vgpu_other_kind { VGPU_SPILL_LOAD, VGPU_SPILL_STORE, VGPU_CONSTANT_LOAD, VGPU_JUMP } vgpu_other_kind;
typedef struct vgpu_other {
    uint32_t pc, at;
    uint32_t entry;    /* of an unrolled loop: what is issued whenever it is entered */
    uint32_t kernel;   /* first record of the only kernel that does it; UINT32_MAX: any */
    uint16_t requests; /* each time */
    uint8_t kind;
    int8_t
        turn; /* so many issues of `at` are one turn of the loop; negative: what is left of them when so many are done at a time; 0: it is not unrolled */
} vgpu_other;

typedef struct tess_vgpu_module {
    tess_context *context;
    ptx_arena_block *arena;
    const char *text;
    struct tess_vgpu_machine *machine;
    ptx_symbol *buckets[1024];
    ptx_symbol *scope; /* newest first, for leaving scopes */
    ptx_function **functions;
    int function_count, function_room;
    ptx_symbol **globals; /* variables in .global memory, to free with the module */
    int global_count, global_room;
    ptx_symbol **shared; /* variables in .shared memory of a known size, for the names in messages */
    int shared_count, shared_room;
    char *constants; /* the constant bank */
    int64_t constant_bytes;
    int64_t shared_bytes; /* of variables outside functions */
    vgpu_record *records;
    uint32_t record_count;
    uint32_t shape_count; /* loads and stores that remember how their addresses lay: their numbers are in the records' f */
    uint32_t *stretch;    /* by record: how many from it on have neither a guard nor anything to do with the flow */
    vgpu_audit *audit;    /* by record; NULL: no machine code was looked at */
    vgpu_other *others;
    int other_count, other_room;
    vgpu_call_site *sites;
    int site_count, site_room;
    uint32_t *lists; /* operands that have no room in a record, targets of brx */
    int list_count, list_room;
    bool has_calls, uses_heap;
    const char *file_name[256];
    int file_name_length[256];
} tess_vgpu_module;

enum { PTX_CONSTANT_LIMIT = 65536 };

/* Arena (names.c): zeroed memory that lives as long as the module; NULL with the detail set. */
void *tess_vgpu_arena(tess_vgpu_module *module, size_t bytes);
/* Makes room for one more of `size` bytes in an array of the arena. */
bool tess_vgpu_arena_grow(tess_vgpu_module *module, void **array, int count, int *room, size_t size);
void tess_vgpu_arena_free(tess_vgpu_module *module);

ptx_symbol *tess_vgpu_find(tess_vgpu_module *module, const char *name, int length);
ptx_symbol *tess_vgpu_declare(tess_vgpu_module *module, const char *name, int length, ptx_symbol_kind kind, int depth);
void tess_vgpu_leave_scope(tess_vgpu_module *module, int depth); /* forgets what was declared at that depth and deeper */

/* Special registers: number of the name, or -1. */
int tess_vgpu_special(const char *name, int length);
int tess_vgpu_special_bytes(int special);

/* ---- the steps ---- */

typedef struct ptx_parser {
    tess_vgpu_module *module;
    const char *cursor, *line_start;
    int line;
    ptx_token token;        /* the current one */
    ptx_function *function; /* whose body is being read */
    int depth, file, source_line, scope;
    struct {
        uint64_t place[3]; /* file, line, column of code from a header, and the line of the program that used it */
        uint64_t used[2];
    } inlined[64]; /* the last ones, for code of headers that headers use; number of the next */
    unsigned next_inlined;
} ptx_parser;

/* module.c. What tess_detail() says is what the function cannot run for; others stay usable. */
tess_status tess_vgpu_refuse_function(tess_vgpu_module *module, ptx_function *function, int file, int source_line);
/* An error with that sentence when the function, or one that it names, was refused. */
tess_status tess_vgpu_usable(const tess_vgpu_module *module, const ptx_function *function);

tess_status tess_vgpu_error(const ptx_parser *parser, const char *format, ...) TESS_PRINTF(2, 3);
tess_status tess_vgpu_next(ptx_parser *parser);
tess_status tess_vgpu_parse(tess_vgpu_module *module);
tess_status tess_vgpu_parse_instruction(ptx_parser *parser);
uint32_t tess_vgpu_new_slot(ptx_function *function, ptx_type type);
tess_status tess_vgpu_decode(tess_vgpu_module *module, tess_isa_slot slot);

#endif
