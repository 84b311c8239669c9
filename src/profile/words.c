/* SPDX-License-Identifier: Apache-2.0
 * words.c - numbers in texts. printf's %g and %f would write the locale's decimal point, so reals are printed as whole numbers in pieces. */
#include <math.h>
#include <stdio.h>

#include "profile/model.h"

void tess_text_real(tess_text *text, double value) {
    if (!(fabs(value) > 0) || !isfinite(value)) {
        tess_text_add(text, "0");
        return;
    }
    int e = (int)floor(log10(fabs(value)));
    long long digits = llround(fabs(value) / pow(10, e) * 1e8);
    if (digits >= 1000000000) { /* 9.999999999 rounds up */
        digits /= 10;
        e++;
    }
    tess_text_add(text, "%s%lld.%08llde%d", value < 0 ? "-" : "", digits / 100000000, digits % 100000000, e);
}

void tess_text_fixed(tess_text *text, double value, int decimals) {
    long long scale = 1, all;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    if (!(fabs(value) < 1e15)) {
        tess_text_add(text, "%s", value > 0 ? "over 1e15" : "-");
        return;
    }
    all = llround(fabs(value) * (double)scale);
    tess_text_add(text, "%s%lld", value < 0 && all ? "-" : "", all / scale);
    if (decimals > 0)
        tess_text_add(text, ".%0*lld", decimals, all % scale);
}

void tess_text_count(tess_text *text, double value) {
    char digits[32], out[48];
    int n = snprintf(digits, sizeof digits, "%.0f", value < 1e18 ? value : 1e18), k = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            out[k++] = ',';
        out[k++] = digits[i];
    }
    out[k] = 0;
    tess_text_add(text, "%s", out);
}

void tess_text_time(tess_text *text, double seconds) {
    double ns = seconds * 1e9;
    const char *unit = ns < 1e3 ? "ns" : ns < 1e6 ? "us" : ns < 1e9 ? "ms" : "s";
    double value = ns < 1e3 ? ns : ns < 1e6 ? ns / 1e3 : ns < 1e9 ? ns / 1e6 : ns / 1e9;
    tess_text_fixed(text, value, value < 10 ? 2 : value < 100 ? 1 : 0);
    tess_text_add(text, " %s", unit);
}

void tess_text_html(tess_text *text, const char *string, int length) {
    for (int i = 0; i < length && string[i]; i++)
        switch (string[i]) {
        case '<': tess_text_add(text, "&lt;"); break;
        case '>': tess_text_add(text, "&gt;"); break;
        case '&': tess_text_add(text, "&amp;"); break;
        case '"': tess_text_add(text, "&quot;"); break;
        case '\r': break;
        default: tess_text_add(text, "%c", string[i]); break;
        }
}
