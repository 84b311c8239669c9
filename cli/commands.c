/* SPDX-License-Identifier: Apache-2.0
 * commands.c - the table of commands, starting one, and the form of failures. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

#define MASK_TEXT                                                                                                                     \
    "MASKS\n"                                                                                                                         \
    "  FILE.npy                  any weights, 1 to 3 axes\n"                                                                          \
    "  \"1 2 1; 2 4 2; 1 2 1\"     rows end with ;  planes with |  numbers may be fractions (1/16); a final * F scales all\n"         \
    "  gaussian:SIGMA[:RADIUS]   along every axis worked on, as scipy.ndimage (radius 4 SIGMA, rounded); gaussian:2x1 an axis each\n" \
    "  box:5x5  box:9            the mean of a box; one width serves every axis\n"                                                    \
    "  sobel:x  prewitt:y  scharr:x   derivative across the columns (x) or the rows (y)\n"                                            \
    "  laplace  sharpen          in 1, 2 or 3 axes\n"                                                                                 \
    "Images are worked on along their rows and columns, recordings along time, .npy arrays along all axes (named masks) or their last ones."

const cli_command cli_commands[] = {
    {"correlate", "IN --mask SPEC -o OUT", "slides a mask over an array: filters, blurs, edges",
     "Each element of the result is the sum of the elements under the mask, each times its weight. The result has the input's type (bool: f32) "
     "unless\n"
     "--type or the output's format says otherwise.\n\n" MASK_TEXT,
     CLI_CORRELATE, 1, 1, cli_run_correlate},
    {"convolve", "IN --mask SPEC -o OUT", "as correlate, with the mask flipped",
     "The convolution: correlate with the mask reversed along each of its axes.\n\n" MASK_TEXT, CLI_CONVOLVE, 1, 1, cli_run_correlate},
    {"reduce", "OP IN [-o OUT]", "sums, means, extremes and other statistics",
     "OP: sum prod min max mean var std argmin argmax any all count_nonzero norm1 norm2 norm_inf.\n"
     "Prints the values, or writes them with -o. All axes are reduced unless --axis names some.",
     CLI_REDUCE, 2, 2, cli_run_reduce},
    {"transpose", "IN -o OUT", "exchanges axes", "Without --axes an image's rows and columns are exchanged, and the axes of other arrays reversed.",
     CLI_TRANSPOSE, 1, 1, cli_run_transpose},
    {"lookup", "TABLE INDEX -o OUT", "takes elements of a table by index: tone maps, colour maps, interpolation",
     "TABLE is a file, or a tone map made for the type of INDEX (u8 or u16; an alpha channel is left alone):\n"
     "  gamma:G             the value to the power 1/G: above 1 brightens\n"
     "  invert              white to black\n"
     "  levels:LOW:HIGH     stretches LOW..HIGH to the whole range; plain values or percents (levels:2%:98%)\n"
     "  threshold:T         black below T, white from T on\n"
     "The table is indexed along --axis; INDEX holds integers, or real coordinates to interpolate at.",
     CLI_LOOKUP, 2, 2, cli_run_lookup},
    {"list", "[OP | workloads]", "names the strategies",
     "Every row of the strategy tables, in the order in which they are tried; `workloads`: the built-in problems of bench and tune.", CLI_LIST, 0, 1,
     cli_run_list},
    {"explain", "COMMAND ...", "says which strategy would run, and why",
     "Takes a whole command, such as `tessera explain reduce sum x.npy`, and runs nothing.", CLI_EXPLAIN, 0, -1, cli_run_explain},
    {"devices", "", "says what this machine is", "Processor, instruction sets, caches; cards, and where their libraries were found or looked for.",
     CLI_DEVICES, 0, 0, cli_run_devices},
    {"ladder", "[OP]", "runs every strategy: checked against the reference, timed or counted",
     "For built-in problems of each operation, every strategy from the slowest idea up: whether its bits are the reference's, and what it gained "
     "over the\n"
     "one before. Those of the CPU are timed here, beside the limit measured here. Those for a GPU are timed on a card where there is one, beside "
     "its limits;\n"
     "without one they run on the virtual GPU: checked on a small odd problem, counted, compared with what their formulas say, extrapolated to 64 Mi "
     "elements,\n"
     "and the model's time of an H200 stands beside the measured one. --engine cpu, cuda or virtual runs only those.",
     CLI_LADDER, 0, 1, cli_run_ladder},
    {"bench", "[OP | limits | small]", "measures this machine's limits, then the operations against them",
     "Workloads of the usual kinds, each the median of at least five runs, as GB/s and as a fraction of the limit that binds it: memory, cache, "
     "random reads, or\n"
     "fused multiply-adds. Without options a quick choice of them, and for each the strategy that the library chooses.",
     CLI_BENCH, 0, 1, cli_run_bench},
    {"tune", "[OP | COMMAND ...]", "finds the fastest strategies for this machine and remembers them",
     "Times the strategies of the built-in workloads, or of a whole command such as `tessera tune reduce sum x.npy`, and saves the times to the "
     "user's wisdom\n"
     "(TESSERA_WISDOM, else ~/.cache/tessera/wisdom). Results never depend on it.",
     CLI_TUNE, 0, -1, cli_run_tune},
    {"profile", "FILE 'LAUNCH'", "runs a CUDA kernel on a virtual GPU: where its bytes go, and its mistakes",
     "FILE is CUDA C++ (compiled by NVRTC, the toolkit's or PyPI's nvidia-cuda-nvrtc) or PTX, which needs no software of NVIDIA's; no GPU is "
     "needed.\n"
     "LAUNCH is one, in CUDA's form: 'blur<<<grid, block, shared>>>(argument, ...)'.\n"
     "  grid, block         N  (x, y)  (x, y, z)  dim3(x, y, z)\n"
     "  in:T[N]=SOURCE      an array that the kernel reads; SOURCE: ramp zeros ones random:SEED FILE.npy\n"
     "  inout:T[N]=SOURCE   one that it reads and writes          T: u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64\n"
     "  out:T[N]            one that it writes, undefined before\n"
     "  4096  0.5f  T:V     a number, in the width of the kernel's parameter\n"
     "  {a, b, ...}         a structure by value\n"
     "Reports what limits the kernel, its predicted time on a card, the source with counts a line, the worst lines with reason and advice, and "
     "faults.\n"
     "Example: tessera profile transpose.cu 'transpose<<<(8, 8), (32, 32)>>>(in:f32[256*256]=ramp, out:f32[256*256], 256)'",
     CLI_PROFILE, 2, 2, cli_run_profile},
    {"help", "[COMMAND]", "explains the command or one of its commands", "", CLI_HELP, 0, 1, cli_run_help},
    {NULL, NULL, NULL, NULL, 0, 0, 0, NULL},
};

const cli_command *cli_command_named(const char *name) {
    for (const cli_command *c = cli_commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

/* convolve is a correlate with the mask flipped: one table serves both. */
static const char *operation_named(const char *name) {
    static const char *const known[] = {"correlate", "reduce", "transpose", "lookup", NULL};
    if (strcmp(name, "convolve") == 0)
        return "correlate";
    for (int k = 0; known[k]; k++)
        if (strcmp(known[k], name) == 0)
            return known[k];
    return NULL;
}

int cli_operation(const cli_session *session, const char **operation) {
    *operation = NULL;
    if (session->count == 0)
        return CLI_OK;
    *operation = operation_named(session->operands[0]);
    return *operation ? CLI_OK
                      : cli_fail(CLI_USAGE, "there is no operation \"%s\"; they are correlate reduce transpose lookup", session->operands[0]);
}

int cli_fail(int code, const char *format, ...) {
    char line[6000];
    va_list arguments;
    cli_progress_end();
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *p = line; *p; p++)
        if ((unsigned char)*p < 32 || *p == 127)
            *p = '?';
    fprintf(stderr, "tessera: %s\n", line);
    return code;
}

int cli_fail_library(void) { return cli_fail(CLI_FAILED, "%s", tess_detail()); }

int cli_fail_io(tess_io_status status, const tess_io_message *message) {
    return cli_fail(status == TESS_IO_ERR_INPUT ? CLI_INPUT : status == TESS_IO_ERR_OUTPUT ? CLI_OUTPUT : CLI_FAILED, "%s", message->text);
}

int cli_start(const cli_command *command, cli_mode mode, int argc, char **argv) {
    cli_session session = {.command = command, .mode = mode};
    /* The arguments of explain, and of tune when they are more than an operation's name, are a command's, which reads them itself. */
    bool wraps = command->most < 0 && argc > (command->bit == CLI_TUNE ? 2 : 1) && argv[1][0] != '-';
    if (wraps && (command->bit != CLI_TUNE || argv[2][0] != '-')) {
        session.operands = argv + 1;
        session.count = argc - 1;
        return command->run(&session);
    }
    int code = cli_options_parse(&session, argc, argv);
    if (code != CLI_OK)
        return code;
    if (session.options.help) {
        cli_help_command(command);
        return cli_flush();
    }
    const char *output = session.options.output;
    tess_io_message message;
    if (output && tess_io_format_named(output) == TESS_IO_UNKNOWN && tess_io_check_output(output, &message) == TESS_IO_OK)
        return cli_fail(CLI_USAGE, "--output is \"%s\", its extension must be one of .npy .png .tif .tiff .wav .flac", output);
    if (output && mode == CLI_RUN && session.options.json && strcmp(output, "-") == 0)
        return cli_fail(CLI_USAGE, "--json and --output - exclude each other: both would go to standard output");
    if (output && mode == CLI_RUN && tess_io_check_output(output, &message) != TESS_IO_OK)
        return cli_fail_io(TESS_IO_ERR_OUTPUT, &message);
    if (!(command->bit & (CLI_LIST | CLI_EXPLAIN | CLI_HELP))) {
        tess_context_options options = {.struct_size = sizeof options,
                                        .threads = session.options.threads,
                                        .engine = (tess_engine)session.options.engine,
                                        .isa = (tess_isa)session.options.isa};
        cli_progress_start(&options, &session.options);
        if (tess_open(&session.context, &options) != TESS_OK)
            return cli_fail_library();
    }
    code = command->run(&session);
    tess_close(session.context);
    cli_progress_end();
    return code;
}
