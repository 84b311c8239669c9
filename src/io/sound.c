/* SPDX-License-Identifier: Apache-2.0
 * sound.c - recordings through libsndfile: WAV and FLAC, read as float32 (frames) or (frames, channels), full scale = 1.
 *
 * A file keeps the sample rate and, where it can, the sample type of the recording that it was made from. Where that is an integer, values are rounded
 * half to even and clipped at full scale here: libsndfile cuts what is below the last bit, which shifts a whole recording by half of it. */
#include <endian.h>
#include <math.h>
#include <sndfile.h>
#include <string.h>
#include <unistd.h>

#include "io/output.h"

typedef struct sound_session {
    const tess_io_bytes *bytes;
    int64_t at;
    tess_io_output *output;
    int64_t written; /* the file's length so far */
} sound_session;

static sf_count_t on_length(void *user) {
    sound_session *s = user;
    return s->bytes ? (sf_count_t)s->bytes->size : s->written;
}
static sf_count_t on_seek(sf_count_t offset, int whence, void *user) {
    sound_session *s = user;
    int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? s->at : on_length(user), to;
    if (__builtin_add_overflow(base, offset, &to) || to < 0)
        return -1;
    if (s->output && tess_io_output_seek(s->output, to, SEEK_SET) < 0)
        return -1;
    return s->at = to;
}
static sf_count_t on_read(void *to, sf_count_t size, void *user) {
    sound_session *s = user;
    int64_t rest = s->bytes ? (int64_t)s->bytes->size - s->at : 0, n = size < rest ? size : rest;
    if (n <= 0)
        return 0;
    memcpy(to, s->bytes->data + s->at, (size_t)n);
    s->at += n;
    return n;
}
static sf_count_t on_write(const void *from, sf_count_t size, void *user) {
    sound_session *s = user;
    if (!s->output || !tess_io_output_write(s->output, from, (size_t)size))
        return 0;
    s->at += size;
    if (s->at > s->written)
        s->written = s->at;
    return size;
}
static sf_count_t on_tell(void *user) { return ((sound_session *)user)->at; }

/* Whether a WAV file ends before the sound that its header promises: libsndfile then tells of the frames that are there. Programs that write into a pipe do not
 * know the length and promise 2 or 4 GiB less a little. */
static bool cut_short(const tess_io_bytes *bytes) {
    uint32_t length = 0;
    for (size_t at = 12; bytes->size >= 8 && at <= bytes->size - 8; at += 8 + (size_t)length + (length & 1)) {
        const unsigned char *chunk = bytes->data + at;
        memcpy(&length, chunk + 4, 4);
        length = bytes->data[3] == 'X' ? be32toh(length) : le32toh(length); /* RIFX: the other order */
        if (memcmp(chunk, "data", 4) == 0)
            return length > bytes->size - at - 8 && length < 0x7ffff000;
    }
    return false;
}

static SF_VIRTUAL_IO callbacks = {on_length, on_seek, on_read, on_write, on_tell};

tess_io_status tess_io_sound_decode(tess_io_array *array, const tess_io_bytes *bytes, const char *name, const tess_io_limits *limits,
                                    tess_io_message *message) {
    sound_session session = {.bytes = bytes};
    SF_INFO info = {0};
    SNDFILE *file = sf_open_virtual(&callbacks, SFM_READ, &info, &session);
    if (!file)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s is a damaged recording: %s", name, sf_strerror(NULL));
    int64_t limit = limits && limits->pixels > 0 ? limits->pixels : (int64_t)1 << 32;
    bool flac = (info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_FLAC;
    tess_io_status status = TESS_IO_OK;
    if (info.channels < 1 || info.channels > 1024 || info.frames < 0)
        status = tess_io_fail(message, TESS_IO_ERR_INPUT, "%s: %d channels, the limits are 1 and 1024", name, info.channels);
    else if (flac && info.frames > limit)
        status = tess_io_fail(message, TESS_IO_ERR_INPUT, "%s: %lld frames are more than the limit of %lld; --max-pixels raises it", name,
                              (long long)info.frames, (long long)limit);
    else if (!flac && cut_short(bytes))
        status = tess_io_fail(message, TESS_IO_ERR_INPUT, "%s is truncated: its header promises more than the %lld frames that are there", name,
                              (long long)info.frames);
    int64_t shape[2] = {info.frames, info.channels};
    if (status == TESS_IO_OK)
        status = tess_io_make(array, tess_f32, info.channels == 1 ? 1 : 2, shape, name, message);
    if (status == TESS_IO_OK) {
        sf_count_t got = info.frames > 0 ? sf_readf_float(file, array->block, info.frames) : 0;
        if (got < info.frames)
            status = tess_io_fail(message, TESS_IO_ERR_INPUT, "%s is truncated: its header promises %lld frames, %lld could be read", name,
                                  (long long)info.frames, (long long)got);
        array->work_axes = 1;
        array->rate = info.samplerate;
        array->subtype = info.format & SF_FORMAT_SUBMASK;
    }
    sf_close(file);
    return status;
}

/* The sample type for the file: as the array's type where that is an integer, else that of the recording, else the best that the format has. */
static int choose_subtype(const tess_io_array *array, int major, SF_INFO info) {
    tess_type type = tess_io_type(array);
    int wanted = type == tess_i16 ? SF_FORMAT_PCM_16 : type == tess_i32 ? SF_FORMAT_PCM_32 : array->subtype;
    info.format = major | wanted;
    if (wanted && sf_format_check(&info))
        return wanted;
    return major == SF_FORMAT_FLAC ? SF_FORMAT_PCM_24 : SF_FORMAT_FLOAT;
}

static int bits_of(int subtype) {
    switch (subtype) {
    case SF_FORMAT_PCM_U8:
    case SF_FORMAT_PCM_S8: return 8;
    case SF_FORMAT_PCM_16: return 16;
    case SF_FORMAT_PCM_24: return 24;
    case SF_FORMAT_PCM_32: return 32;
    default: return 0;
    }
}

/* Floats as integers of so many bits, at the upper end of libsndfile's 32. */
static bool write_rounded(SNDFILE *file, const char *data, bool wide, int bits, int64_t frames, int channels) {
    enum { BLOCK = 4096 };
    int block[BLOCK];
    const double scale = ldexp(1, bits - 1);
    const int64_t count = frames * channels, most = BLOCK / channels * channels; /* whole frames */
    for (int64_t from = 0; from < count; from += most) {
        const int64_t n = count - from < most ? count - from : most;
        for (int64_t i = 0; i < n; i++) {
            double x = nearbyint((wide ? ((const double *)data)[from + i] : ((const float *)data)[from + i]) * scale);
            x = isnan(x) ? 0 : fmin(fmax(x, -scale), scale - 1);
            block[i] = (int)((int64_t)x * ((int64_t)1 << (32 - bits)));
        }
        if (sf_write_int(file, block, n) != n)
            return false;
    }
    return true;
}

static bool write_frames(SNDFILE *file, const tess_io_array *array, int64_t frames, int channels, int bits) {
    const char *data = (const char *)array->tensor.data + array->tensor.byte_offset;
    const tess_type type = tess_io_type(array);
    if (bits > 0 && (type == tess_f32 || type == tess_f64))
        return write_rounded(file, data, type == tess_f64, bits, frames, channels);
    switch (type) {
    case tess_i16: return sf_writef_short(file, (const short *)data, frames) == frames;
    case tess_i32: return sf_writef_int(file, (const int *)data, frames) == frames;
    case tess_f64: return sf_writef_double(file, (const double *)data, frames) == frames;
    default: return sf_writef_float(file, (const float *)data, frames) == frames;
    }
}

tess_io_status tess_io_sound_encode(const tess_io_array *array, tess_io_output *output, tess_io_message *message) {
    int ndim = array->tensor.ndim;
    int64_t frames = ndim > 0 ? array->tensor.shape[0] : 0, channels = ndim == 2 ? array->tensor.shape[1] : 1;
    int major = tess_io_format_named(output->name) == TESS_IO_FLAC ? SF_FORMAT_FLAC : SF_FORMAT_WAV, most = major == SF_FORMAT_FLAC ? 8 : 1024;
    if (ndim < 1 || ndim > 2 || channels < 1 || channels > most)
        return tess_io_fail(message, TESS_IO_ERR_OUTPUT,
                            "%s: such a recording has (frames) or (frames, 1 to %d channels); the result has %d axes and %lld channels", output->name,
                            most, ndim, (long long)channels);
    if (array->rate <= 0)
        return tess_io_fail(message, TESS_IO_ERR_OUTPUT, "%s: the input has no sample rate; --rate gives one", output->name);
    int64_t bytes;
    if (major == SF_FORMAT_WAV && __builtin_mul_overflow(frames * channels, (int64_t)8, &bytes) == 0 && bytes > 0xf0000000)
        major = SF_FORMAT_RF64; /* a plain WAV header counts bytes in 32 bits */
    SF_INFO info = {.samplerate = array->rate, .channels = (int)channels, .format = major};
    info.format |= choose_subtype(array, major, info);
    sound_session session = {.output = output};
    if (output->in_place && lseek(output->fd, 0, SEEK_SET) < 0)
        return tess_io_fail(message, TESS_IO_ERR_OUTPUT, "%s: a recording can only be written to a file: its header comes last", output->name);
    SNDFILE *file = sf_open_virtual(&callbacks, SFM_WRITE, &info, &session);
    if (!file && output->error)
        return tess_io_output_failed(output, message);
    if (!file)
        return tess_io_fail(message, TESS_IO_ERR_OUTPUT, "%s cannot be written: %s", output->name, sf_strerror(NULL));
    sf_command(file, SFC_SET_CLIPPING, NULL, SF_TRUE);
    bool whole = write_frames(file, array, frames, (int)channels, bits_of(info.format & SF_FORMAT_SUBMASK));
    int error = sf_close(file); /* writes the header's counts and FLAC's last block */
    if (output->error)
        return tess_io_output_failed(output, message);
    if (!whole || error)
        return tess_io_fail(message, TESS_IO_ERR_OUTPUT, "%s cannot be written: %s", output->name, sf_error_number(error));
    return TESS_IO_OK;
}
