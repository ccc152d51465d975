// bcrypt's hash for OpenSSH's key derivation: Blowfish with an expensive key schedule (Provos, Mazieres 1999).
#ifndef OM_BLOWFISH_H
#define OM_BLOWFISH_H

#include <stdint.h>

/// 18 and four times 256.
#define OM_BLOWFISH_WORDS 1042

/// The state before a key is mixed in.
extern const uint32_t om_blowfish_start[OM_BLOWFISH_WORDS];

/// Writes 32 bytes to `out`.
///
/// `state` is working memory. It holds key material afterwards, and the caller wipes it.
void om_bcrypt_hash(
    uint32_t state[OM_BLOWFISH_WORDS], const uint8_t password[64], const uint8_t salt[64], uint8_t out[32]);

#endif
