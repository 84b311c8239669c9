/* SPDX-License-Identifier: Apache-2.0
 * card.c - the list of cards: a small text file, built in (cards.txt beside this file) or the caller's. */
#include <string.h>

#include "profile/model.h"
#include "profile/number.h"

/* The file's bytes, by the assembler, with a 0 behind them; the build runs in the folder of the sources. */
__asm__(".pushsection .rodata\n"
        ".hidden tess_profile_cards\n"
        ".globl tess_profile_cards\n"
        "tess_profile_cards:\n"
        ".incbin \"src/profile/cards.txt\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char tess_profile_cards[] __attribute__((visibility("hidden")));

static const struct {
    const char *key;
    size_t at;
} keys[] = {
#define KEY(name) {#name, offsetof(tess_card, name)},
    TESS_CARD_KEYS(KEY)
#undef KEY
};

typedef struct word {
    const char *at;
    int length;
} word;

static word next_word(const char **at) {
    *at += strspn(*at, " \t\r");
    word w = {*at, (int)strcspn(*at, " \t\r\n")};
    *at += w.length;
    return w;
}

static bool is(word w, const char *text) { return w.length == (int)strlen(text) && memcmp(w.at, text, (size_t)w.length) == 0; }

static void keep(char *to, size_t room, const char *from, int length) {
    size_t n = (size_t)length < room ? (size_t)length : room - 1;
    memcpy(to, from, n);
    to[n] = 0;
}

static tess_status set(tess_card *card, word key, word value, int line) {
    tess_number n;
    const char *at = value.at;
    for (int i = 0; i < TESS_COUNT(keys); i++) {
        if (!is(key, keys[i].key))
            continue;
        if (!tess_number_read(&at, &n) || at != value.at + value.length || !(n.real > 0 && n.real < 1e9))
            return tess_fail(TESS_ERR_ARGUMENT, "card list, line %d: %s is \"%.*s\", a number above 0 is expected", line, keys[i].key,
                             value.length < 40 ? value.length : 40, value.at);
        *(double *)((char *)card + keys[i].at) = n.real;
        return TESS_OK;
    }
    return tess_fail(TESS_ERR_ARGUMENT, "card list, line %d: there is no key \"%.*s\"", line, key.length < 40 ? key.length : 40, key.at);
}

static tess_status complete(const tess_card *card) {
    for (int i = 0; i < TESS_COUNT(keys); i++)
        if (*(const double *)((const char *)card + keys[i].at) == 0)
            return tess_fail(TESS_ERR_ARGUMENT, "card list: %s lacks the key %s", card->name, keys[i].key);
    return TESS_OK;
}

tess_status tess_profile_card(const char *list, const char *name, tess_card *card) {
    const char *at = list ? list : tess_profile_cards;
    char names[256] = "";
    bool wanted = false, found = false;
    *card = (tess_card){.name = ""};
    if (!name && !list)
        name = "H200";
    for (int line = 1; *at && !(found && !wanted); line++) {
        int length = (int)strcspn(at, "\n");
        const char *p = at;
        word key = next_word(&p);
        word value = {0};
        if (key.length > 0 && *key.at != '#') {
            value = next_word(&p);
            if (value.length == 0)
                return tess_fail(TESS_ERR_ARGUMENT, "card list, line %d: \"%.*s\" has no value", line, key.length < 40 ? key.length : 40, key.at);
        }
        if (value.length == 0) {
            /* blank or comment */
        } else if (is(key, "card")) {
            wanted = !found && (!name || is(value, name));
            if (wanted) {
                keep(card->name, sizeof card->name, value.at, value.length);
                keep(card->title, sizeof card->title, value.at, value.length);
            }
            found = found || wanted;
            size_t used = strlen(names);
            if (used + (size_t)value.length + 3 < sizeof names) {
                memcpy(names + used, " ", 2);
                keep(names + used + 1, sizeof names - used - 1, value.at, value.length);
            }
        } else if (wanted && is(key, "title")) {
            int n = (int)strcspn(value.at, "#\n");
            while (n > 0 && strchr(" \t\r", value.at[n - 1]))
                n--;
            keep(card->title, sizeof card->title, value.at, n);
        } else if (wanted) {
            TESS_TRY(set(card, key, value, line));
        }
        at += length + (at[length] == '\n');
    }
    if (!found)
        return tess_fail(TESS_ERR_ARGUMENT, "there is no card \"%.60s\"; the list has%s", name ? name : "", *names ? names : " none");
    return complete(card);
}
