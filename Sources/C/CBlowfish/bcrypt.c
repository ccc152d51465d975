// The tables are read at places that depend on the password. That is how Blowfish works, and every program that reads
// OpenSSH's keys does it.

#include "blowfish.h"

#include <string.h>


static uint32_t mixed(const uint32_t *boxes, uint32_t x) {
    return ((boxes[x >> 24] + boxes[256 + (x >> 16 & 255)]) ^ boxes[512 + (x >> 8 & 255)]) + boxes[768 + (x & 255)];
}

static void encrypt(const uint32_t *state, uint32_t *left, uint32_t *right) {
    const uint32_t *boxes = state + 18;
    uint32_t l = *left ^ state[0], r = *right;
    for (int round = 1; round < 17; round += 2) {
        r ^= mixed(boxes, l) ^ state[round];
        l ^= mixed(boxes, r) ^ state[round + 1];
    }
    *left = r ^ state[17];
    *right = l;
}

static void words(const uint8_t bytes[64], uint32_t out[16]) {
    for (int i = 0; i < 16; i++)
        out[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 | (uint32_t)bytes[4 * i + 2] << 8
            | (uint32_t)bytes[4 * i + 3];
}

// Mixes a key into the whole state. Without a salt each block is the one before, encrypted.
static void expand(uint32_t *state, const uint32_t key[16], const uint32_t *salt) {
    for (int i = 0; i < 18; i++) state[i] ^= key[i % 16];
    uint32_t left = 0, right = 0;
    for (int i = 0, from = 0; i < OM_BLOWFISH_WORDS; i += 2, from = (from + 2) % 16) {
        if (salt) {
            left ^= salt[from];
            right ^= salt[from + 1];
        }
        encrypt(state, &left, &right);
        state[i] = left;
        state[i + 1] = right;
    }
}

void om_bcrypt_hash(
    uint32_t state[OM_BLOWFISH_WORDS], const uint8_t password[64], const uint8_t salt[64], uint8_t out[32]) {
    static const char text[] = "OxychromaticBlowfishSwatDynamite";
    uint32_t key[16], salted[16], block[8];
    words(password, key);
    words(salt, salted);
    memcpy(state, om_blowfish_start, sizeof om_blowfish_start);
    expand(state, key, salted);
    for (int i = 0; i < 64; i++) {
        expand(state, salted, 0);
        expand(state, key, 0);
    }
    for (int i = 0; i < 8; i++)
        block[i] = (uint32_t)(uint8_t)text[4 * i] << 24 | (uint32_t)(uint8_t)text[4 * i + 1] << 16
            | (uint32_t)(uint8_t)text[4 * i + 2] << 8 | (uint32_t)(uint8_t)text[4 * i + 3];
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 8; j += 2) encrypt(state, &block[j], &block[j + 1]);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++) out[4 * i + j] = (uint8_t)(block[i] >> 8 * j);
    explicit_bzero(key, sizeof key);
    explicit_bzero(salted, sizeof salted);
    explicit_bzero(block, sizeof block);
}
