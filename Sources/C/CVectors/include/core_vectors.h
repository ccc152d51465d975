// The vector files that are built into omvault, so that the program proves itself wherever it is installed.

#pragma once

#include <stddef.h>

typedef struct {
    const char *name;
    const unsigned char *bytes;
    size_t count;
} omv_core_vector;

/// Nothing where there is no file of this number.
const omv_core_vector *omv_core_vector_at(size_t number);
