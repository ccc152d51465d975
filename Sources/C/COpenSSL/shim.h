#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

/* Macros that Swift cannot read. */
static inline int om_select_public_key(void) { return EVP_PKEY_PUBLIC_KEY; }
static inline int om_select_key_pair(void) { return EVP_PKEY_KEYPAIR; }
static inline int om_bio_text(BIO *bio, char **text) { return (int)BIO_get_mem_data(bio, text); }
static inline unsigned long om_name_flags(void) { return XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB; }
static inline void om_constant_time(BIGNUM *number) { BN_set_flags(number, BN_FLG_CONSTTIME); }
