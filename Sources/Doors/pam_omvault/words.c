// The meaning of each answer: libpam's code, a line in the system's log, a line for the user.

#include "pam_omvault.h"

#include <security/pam_ext.h>
#include <security/pam_modutil.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

struct meaning {
    int verdict;
    int code;
    int priority;
    /// The user typed a wrong password, or typed one for a login that accepts none now. The log says it in pam_unix's words,
    /// which fail2ban and others read.
    bool is_failure;
    /// Whether the name is known: such a login exists, or a server has answered for it. See `logs_user`.
    bool names_user;
    const char *log;
    /// NULL: nothing. `%s` is the time to wait.
    const char *user;
};

static const struct meaning meanings[] = {
    {OMP_WRONG, PAM_AUTH_ERR, LOG_NOTICE, true, true, NULL, NULL},
    {OMP_LOCKED_OUT, PAM_MAXTRIES, LOG_NOTICE, true, true,
        "the login is locked after too many attempts: omvault login unlock USER --system",
        "The login is locked until an administrator unlocks it."},
    {OMP_WIPED, PAM_MAXTRIES, LOG_NOTICE, true, true, "the cached credential was wiped after too many wrong passwords",
        "The cached login was wiped after too many wrong passwords. Log in while the server can be reached, or ask an administrator."},
    {OMP_BLOCKED, PAM_MAXTRIES, LOG_NOTICE, true, true, "the server says that the account is blocked",
        "The server says that the account is blocked."},
    {OMP_TOO_EARLY, PAM_MAXTRIES, LOG_NOTICE, true, true, "too early after a wrong password",
        "Too early after a wrong password. Try again in %s."},
    {OMP_BUSY, PAM_MAXTRIES, LOG_NOTICE, false, false, "another process used the login for the whole wait",
        "The login is busy. Try again."},
    {OMP_NO_CREDENTIAL, PAM_AUTHINFO_UNAVAIL, LOG_INFO, false, false, "no login is cached for the user", NULL},
    {OMP_EXPIRED, PAM_AUTHINFO_UNAVAIL, LOG_NOTICE, false, true, "the cached credential has expired", NULL},
    {OMP_UNREACHABLE, PAM_AUTHINFO_UNAVAIL, LOG_NOTICE, false, false,
        "the server was not reached, and no cached credential could be used", NULL},
    {OMP_NO_VERDICT, PAM_AUTHINFO_UNAVAIL, LOG_ERR, false, false,
        "the server gave no usable answer, or is not trusted: omvault login check USER --system",
        "The server asks to wait. Try again in %s."},
    {OMP_FORBIDDEN, PAM_PERM_DENIED, LOG_NOTICE, false, true, "the server does not let the user in", NULL},
    {OMP_REFUSED, PAM_USER_UNKNOWN, LOG_NOTICE, false, false, "the user name is not valid", NULL},
    {OMP_ROOT, PAM_USER_UNKNOWN, LOG_NOTICE, false, false,
        "the user has uid 0 or could not be looked up, and root=yes is not set", NULL},
    {OMP_BROKEN, PAM_SERVICE_ERR, LOG_ERR, false, false,
        "the store is damaged, put back from a copy, unsafe or not set up: omvault login status --system", NULL},
    {OMP_ADDRESS, PAM_SERVICE_ERR, LOG_ERR, false, false,
        "the server was not asked: its address is not https, nor http at a port of this machine below 1024", NULL},
    {OMP_NO_HELPER, PAM_SERVICE_ERR, LOG_ERR, false, false,
        "the server was not asked: omvault-agent, or a file or header of the profile, cannot be used: "
        "omvault login check USER --system", NULL},
    {OMP_PROFILE, PAM_SERVICE_ERR, LOG_ERR, false, false,
        "there is no such profile, or it asks for more than PAM can ask: omvault profile show --system", NULL},
};
static const struct meaning no_answer = {OMP_NONE, PAM_SERVICE_ERR, LOG_ERR, false, false, "the helper gave no answer", NULL};

/// Text of at most LONGEST_NAME bytes, as one word of printable ASCII.
struct word {
    char text[4 * LONGEST_NAME + 1];
};

/// Attack: a line break in a name begins a new line in the log, and a blank begins a field, such as another rhost. Such bytes
/// are escaped.
static const char *word_of(const char *text, struct word *word) {
    char *end = word->text;
    for (size_t i = 0; text && text[i] && i < LONGEST_NAME; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte > ' ' && byte < 0x7F && byte != '\\') {
            *end++ = (char)byte;
        } else {
            end += sprintf(end, "\\x%02x", byte);
        }
    }
    *end = 0;
    return word->text;
}

static const char *item(pam_handle_t *pam, int kind, struct word *word) {
    const void *found = NULL;
    return word_of(pam_get_item(pam, kind, &found) == PAM_SUCCESS ? found : NULL, word);
}

static void log_failure(pam_handle_t *pam, const char *user) {
    struct word login, tty, remote_user, remote_host;
    pam_syslog(pam, LOG_NOTICE, "authentication failure; logname=%s uid=%u euid=%u tty=%s ruser=%s rhost=%s user=%s",
        word_of(pam_modutil_getlogin(pam), &login), getuid(), geteuid(), item(pam, PAM_TTY, &tty),
        item(pam, PAM_RUSER, &remote_user), item(pam, PAM_RHOST, &remote_host), user);
}

/// Attack: an attacker reads the log for passwords that users typed as their name. So a name is logged only if it is known
/// or an account's.
static bool logs_user(pam_handle_t *pam, const struct meaning *meaning, const char *user) {
    return meaning->names_user || (user && pam_modutil_getpwnam(pam, user));
}

/// Shows `words` to the user, with the time in place of `%s`. Shows nothing if the time is needed and not known.
static void inform(pam_handle_t *pam, const char *words, uint32_t seconds) {
    const char *gap = strstr(words, "%s");
    if (!gap) {
        (void)pam_info(pam, "%s", words);
        return;
    }
    if (seconds == 0) return;
    bool is_long = seconds >= 120;
    (void)pam_info(pam, "%.*s%u %s%s", (int)(gap - words), words, is_long ? (seconds - 1) / 60 + 1 : seconds,
        is_long ? "minutes" : seconds == 1 ? "second" : "seconds", gap + 2);
}

int omp_tell(pam_handle_t *pam, int flags, const char *user, struct omp_answer answer) {
    if (answer.verdict == OMP_GRANTED) return PAM_SUCCESS;
    const struct meaning *meaning = &no_answer;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (meanings[i].verdict == answer.verdict) meaning = &meanings[i];
    }
    struct word name;
    word_of(user, &name);
    if (meaning->is_failure) log_failure(pam, name.text);
    if (meaning->log && logs_user(pam, meaning, user)) {
        pam_syslog(pam, meaning->priority, "%s; user=%s", meaning->log, name.text);
    } else if (meaning->log) {
        pam_syslog(pam, meaning->priority, "%s", meaning->log);
    }
    if (meaning->user && !(flags & PAM_SILENT)) inform(pam, meaning->user, answer.seconds);
    return meaning->code;
}
