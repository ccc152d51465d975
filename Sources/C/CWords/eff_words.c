// The word list of the Electronic Frontier Foundation (https://www.eff.org/dice), taken in as it is. Its licence, Creative
// Commons Attribution 3.0, is in the file and in NOTICE.

#include "eff_words.h"

// #embed is C23; the compiler takes it earlier, and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char words[] = {
#embed "eff-large-wordlist.txt"
};

const unsigned char *omv_eff_words(size_t *count) {
    *count = sizeof words;
    return words;
}
