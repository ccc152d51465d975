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
#include <openssl/x509v3.h>

/* Macros that Swift cannot read. */
static inline int om_select_public_key(void) { return EVP_PKEY_PUBLIC_KEY; }
static inline int om_select_key_pair(void) { return EVP_PKEY_KEYPAIR; }
static inline int om_bio_text(BIO *bio, char **text) { return (int)BIO_get_mem_data(bio, text); }
static inline unsigned long om_name_flags(void) { return XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB; }
static inline void om_constant_time(BIGNUM *number) { BN_set_flags(number, BN_FLG_CONSTTIME); }
static inline int om_text_utf8(void) { return MBSTRING_UTF8; }
static inline void om_free_bytes(unsigned char *bytes) { OPENSSL_free(bytes); }
static inline void om_free_text(char *text) { OPENSSL_free(text); }

/* Asks for the alternative names `der`, a GeneralNames of `count` bytes. Returns 1 if that worked. */
static inline int om_request_set_names(X509_REQ *request, const unsigned char *der, int count) {
    ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
    STACK_OF(X509_EXTENSION) *list = sk_X509_EXTENSION_new_null();
    X509_EXTENSION *extension = NULL;
    int done = 0;
    if (value != NULL && list != NULL && ASN1_OCTET_STRING_set(value, der, count) == 1)
        extension = X509_EXTENSION_create_by_NID(NULL, NID_subject_alt_name, 0, value);
    if (extension != NULL && sk_X509_EXTENSION_push(list, extension) > 0) done = X509_REQ_add_extensions(request, list);
    sk_X509_EXTENSION_free(list);
    X509_EXTENSION_free(extension);
    ASN1_OCTET_STRING_free(value);
    return done == 1;
}
