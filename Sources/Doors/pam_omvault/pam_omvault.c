// pam_omvault.so: asks omvault-pam-helper whether a password is right, and nothing else. docs/reference/pam.md.
//
// Other programs load it and run it as root. So it does no cryptography, opens no store, keeps no state, and changes neither
// signals nor environment. Without a whole, fresh answer of the helper, it refuses.

#include "pam_omvault.h"

#include <security/pam_ext.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/// Reads the options on the module's line. False if one is unknown: a misspelled option must not be ignored, because then
/// its policy would not hold.
static bool read_options(pam_handle_t *pam, int count, const char **words, struct omp_options *options) {
    *options = (struct omp_options){.profile = NULL, .mode = 'P', .root = false, .seconds = 150};
    for (int i = 0; i < count; i++) {
        const char *word = words[i];
        if (strncmp(word, "profile=", 8) == 0) {
            options->profile = word + 8;
        } else if (strcmp(word, "mode=auto") == 0 || strcmp(word, "mode=offline") == 0 || strcmp(word, "mode=online") == 0) {
            options->mode = word[5] == 'a' ? 'A' : word[6] == 'f' ? 'F' : 'N';
        } else if (strcmp(word, "root=yes") == 0 || strcmp(word, "root=no") == 0) {
            options->root = word[5] == 'y';
        } else if (strncmp(word, "deadline=", 9) == 0) {
            char *rest;
            long seconds = strtol(word + 9, &rest, 10);
            if (*rest || rest == word + 9 || seconds < 1 || seconds > 600) goto unknown;
            options->seconds = (int)seconds;
        } else if (strcmp(word, "try_first_pass") != 0 && strcmp(word, "use_first_pass") != 0) {
            goto unknown;
        }
        continue;
    unknown:
        pam_syslog(pam, LOG_ERR, "unknown option \"%s\"", word);
        return false;
    }
    size_t length = options->profile ? strlen(options->profile) : 0;
    if (length >= 1 && length <= LONGEST_PROFILE) return true;
    pam_syslog(pam, LOG_ERR, "profile=NAME is missing, or no name");
    return false;
}

/// No login has a name with a slash, and a module after this one may take it for a path.
static bool is_name(const char *user) {
    size_t length = user ? strlen(user) : 0;
    return length >= 1 && length <= LONGEST_NAME && !strchr(user, '/') && user[0] != '-' && user[0] != '.';
}

EXPORTED int pam_sm_authenticate(pam_handle_t *pam, int flags, int count, const char **words) {
    struct omp_options options;
    if (!read_options(pam, count, words, &options)) return PAM_SERVICE_ERR;
    if (geteuid() != 0) {
        pam_syslog(pam, LOG_ERR, "this program does not run as root, and only root may ask the system store");
        return PAM_AUTHINFO_UNAVAIL;
    }
    if (!omp_helper_is_safe()) {
        pam_syslog(pam, LOG_ERR, "%s is missing, or not root's alone", OMP_HELPER);
        return PAM_SERVICE_ERR;
    }
    const char *user = NULL, *password = NULL;
    int got = pam_get_user(pam, &user, NULL);
    if (got != PAM_SUCCESS) return got == PAM_CONV_AGAIN ? PAM_INCOMPLETE : got;
    if (!is_name(user)) return omp_tell(pam, flags, user, (struct omp_answer){.verdict = OMP_REFUSED});
    got = pam_get_authtok(pam, PAM_AUTHTOK, &password, NULL);
    if (got != PAM_SUCCESS) return got == PAM_CONV_AGAIN ? PAM_INCOMPLETE : got;
    if (!password || !*password || strlen(password) > LONGEST_PASSWORD) return PAM_AUTH_ERR;
    return omp_tell(pam, flags, user, omp_ask(pam, &options, user, password));
}

EXPORTED int pam_sm_setcred(pam_handle_t *pam, int flags, int count, const char **words) {
    (void)pam, (void)flags, (void)count, (void)words;
    return PAM_SUCCESS;
}

/// The modules that know accounts decide whether an account may be used.
EXPORTED int pam_sm_acct_mgmt(pam_handle_t *pam, int flags, int count, const char **words) {
    (void)pam, (void)flags, (void)count, (void)words;
    return PAM_IGNORE;
}
