// The EFF's large word list, which is built into omvault for passphrases.

#pragma once

#include <stddef.h>

/// The text of the list: comments that begin with #, then a word a line. Sets its length.
const unsigned char *omv_eff_words(size_t *count);
