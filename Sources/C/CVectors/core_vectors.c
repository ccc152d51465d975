// Files of the repository's vectors folder, taken in as they are: one at least for each kind of algorithm.

#include "core_vectors.h"

// #embed is C23; the compiler takes it earlier, and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char aead_aes_gcm[] = {
#embed "../../../vectors/aead-aes-gcm.json"
};
static const unsigned char aead_chacha20_poly1305[] = {
#embed "../../../vectors/aead-chacha20-poly1305.json"
};
static const unsigned char aead_xchacha20_poly1305[] = {
#embed "../../../vectors/aead-xchacha20-poly1305.json"
};
static const unsigned char argon2_rfc9106[] = {
#embed "../../../vectors/argon2-rfc9106.json"
};
static const unsigned char argon2id_reference[] = {
#embed "../../../vectors/argon2id-reference.json"
};
static const unsigned char base32_rfc4648[] = {
#embed "../../../vectors/base32-rfc4648.json"
};
static const unsigned char block_3des_cbc_ctr[] = {
#embed "../../../vectors/block-3des-cbc-ctr.json"
};
static const unsigned char block_aes_cbc[] = {
#embed "../../../vectors/block-aes-cbc.json"
};
static const unsigned char block_aes_ctr[] = {
#embed "../../../vectors/block-aes-ctr.json"
};
static const unsigned char block_aes_ecb_fips197[] = {
#embed "../../../vectors/block-aes-ecb-fips197.json"
};
static const unsigned char digest_blake2b256[] = {
#embed "../../../vectors/digest-blake2b256.json"
};
static const unsigned char digest_md5[] = {
#embed "../../../vectors/digest-md5.json"
};
static const unsigned char digest_monte_carlo[] = {
#embed "../../../vectors/digest-monte-carlo.json"
};
static const unsigned char digest_sha[] = {
#embed "../../../vectors/digest-sha.json"
};
static const unsigned char digest_sha3[] = {
#embed "../../../vectors/digest-sha3.json"
};
static const unsigned char ecdsa[] = {
#embed "../../../vectors/ecdsa.json"
};
static const unsigned char ed25519[] = {
#embed "../../../vectors/ed25519.json"
};
static const unsigned char hkdf_sha1[] = {
#embed "../../../vectors/hkdf-sha1.json"
};
static const unsigned char hkdf_sha256[] = {
#embed "../../../vectors/hkdf-sha256.json"
};
static const unsigned char hmac_sha1[] = {
#embed "../../../vectors/hmac-sha1.json"
};
static const unsigned char hmac_sha2[] = {
#embed "../../../vectors/hmac-sha2.json"
};
static const unsigned char hmac_sha256[] = {
#embed "../../../vectors/hmac-sha256.json"
};
static const unsigned char jwk_thumbprint_rfc[] = {
#embed "../../../vectors/jwk-thumbprint-rfc.json"
};
static const unsigned char jws_rfc[] = {
#embed "../../../vectors/jws-rfc.json"
};
static const unsigned char kdf_bcrypt[] = {
#embed "../../../vectors/kdf-bcrypt.json"
};
static const unsigned char kw_aes[] = {
#embed "../../../vectors/kw-aes.json"
};
static const unsigned char kwp_aes[] = {
#embed "../../../vectors/kwp-aes.json"
};
static const unsigned char otp_rfc4226[] = {
#embed "../../../vectors/otp-rfc4226.json"
};
static const unsigned char otp_rfc6238[] = {
#embed "../../../vectors/otp-rfc6238.json"
};
static const unsigned char password_hash_bcrypt[] = {
#embed "../../../vectors/password-hash-bcrypt.json"
};
static const unsigned char password_hash_crypt[] = {
#embed "../../../vectors/password-hash-crypt.json"
};
static const unsigned char password_hash_phc[] = {
#embed "../../../vectors/password-hash-phc.json"
};
static const unsigned char pbkdf2_sha1[] = {
#embed "../../../vectors/pbkdf2-sha1.json"
};
static const unsigned char pbkdf2_sha2[] = {
#embed "../../../vectors/pbkdf2-sha2.json"
};
static const unsigned char rsa_oaep[] = {
#embed "../../../vectors/rsa-oaep.json"
};
static const unsigned char rsa_verify_pss[] = {
#embed "../../../vectors/rsa-verify-pss.json"
};
static const unsigned char saltedhash_sdk[] = {
#embed "../../../vectors/saltedhash-sdk.json"
};
static const unsigned char scrypt_rfc7914[] = {
#embed "../../../vectors/scrypt-rfc7914.json"
};
static const unsigned char xdh_p256[] = {
#embed "../../../vectors/xdh-p256.json"
};
static const unsigned char xdh_x25519[] = {
#embed "../../../vectors/xdh-x25519.json"
};

#define CORE(name, bytes) { name, bytes, sizeof bytes }

static const omv_core_vector files[] = {
    CORE("aead-aes-gcm.json", aead_aes_gcm),
    CORE("aead-chacha20-poly1305.json", aead_chacha20_poly1305),
    CORE("aead-xchacha20-poly1305.json", aead_xchacha20_poly1305),
    CORE("argon2-rfc9106.json", argon2_rfc9106),
    CORE("argon2id-reference.json", argon2id_reference),
    CORE("base32-rfc4648.json", base32_rfc4648),
    CORE("block-3des-cbc-ctr.json", block_3des_cbc_ctr),
    CORE("block-aes-cbc.json", block_aes_cbc),
    CORE("block-aes-ctr.json", block_aes_ctr),
    CORE("block-aes-ecb-fips197.json", block_aes_ecb_fips197),
    CORE("digest-blake2b256.json", digest_blake2b256),
    CORE("digest-md5.json", digest_md5),
    CORE("digest-monte-carlo.json", digest_monte_carlo),
    CORE("digest-sha.json", digest_sha),
    CORE("digest-sha3.json", digest_sha3),
    CORE("ecdsa.json", ecdsa),
    CORE("ed25519.json", ed25519),
    CORE("hkdf-sha1.json", hkdf_sha1),
    CORE("hkdf-sha256.json", hkdf_sha256),
    CORE("hmac-sha1.json", hmac_sha1),
    CORE("hmac-sha2.json", hmac_sha2),
    CORE("hmac-sha256.json", hmac_sha256),
    CORE("jwk-thumbprint-rfc.json", jwk_thumbprint_rfc),
    CORE("jws-rfc.json", jws_rfc),
    CORE("kdf-bcrypt.json", kdf_bcrypt),
    CORE("kw-aes.json", kw_aes),
    CORE("kwp-aes.json", kwp_aes),
    CORE("otp-rfc4226.json", otp_rfc4226),
    CORE("otp-rfc6238.json", otp_rfc6238),
    CORE("password-hash-bcrypt.json", password_hash_bcrypt),
    CORE("password-hash-crypt.json", password_hash_crypt),
    CORE("password-hash-phc.json", password_hash_phc),
    CORE("pbkdf2-sha1.json", pbkdf2_sha1),
    CORE("pbkdf2-sha2.json", pbkdf2_sha2),
    CORE("rsa-oaep.json", rsa_oaep),
    CORE("rsa-verify-pss.json", rsa_verify_pss),
    CORE("saltedhash-sdk.json", saltedhash_sdk),
    CORE("scrypt-rfc7914.json", scrypt_rfc7914),
    CORE("xdh-p256.json", xdh_p256),
    CORE("xdh-x25519.json", xdh_x25519),
};

const omv_core_vector *omv_core_vector_at(size_t number) {
    return number < sizeof files / sizeof *files ? &files[number] : NULL;
}
