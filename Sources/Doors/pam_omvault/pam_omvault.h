// The messages between the module and its helper (docs/reference/pam.md, "Module and helper"), and the declarations that the module's
// files share. libpam finds the module's functions by their names; no other program includes this file.
#ifndef PAM_OMVAULT_H
#define PAM_OMVAULT_H

#include <security/pam_modules.h>
#include <stdbool.h>
#include <stdint.h>

/// magic ‖ nonce (16) ‖ mode (1) ‖ root (1: Y or N) ‖ seconds (2) ‖ lengths of profile (1), user (2) and password (4),
/// big-endian ‖ the three.
#define OMP_ASK "OMP3"
/// magic ‖ the question's nonce (16) ‖ verdict (1) ‖ seconds to wait (4; 0: not known)
#define OMP_ANSWER "OMA2"

enum {
    OMP_MAGIC = 4,
    OMP_NONCE = 16,
    OMP_ASK_HEAD = OMP_MAGIC + OMP_NONCE + 1 + 1 + 2 + 1 + 2 + 4,
    OMP_ANSWER_COUNT = OMP_MAGIC + OMP_NONCE + 1 + 4,
};

enum { LONGEST_NAME = 255, LONGEST_PROFILE = 64, LONGEST_PASSWORD = 1 << 20 };

/// The helper never answers 0, so memory that was never written is not a verdict.
enum omp_verdict {
    OMP_NONE = 0,
    OMP_GRANTED = 'G',
    OMP_WRONG = 'W',
    OMP_LOCKED_OUT = 'L',
    OMP_WIPED = 'X',
    OMP_BLOCKED = 'K',
    OMP_TOO_EARLY = 'T',
    OMP_BUSY = 'B',
    OMP_NO_CREDENTIAL = 'N',
    OMP_EXPIRED = 'E',
    OMP_UNREACHABLE = 'U',
    OMP_NO_VERDICT = 'S',
    OMP_FORBIDDEN = 'F',
    OMP_REFUSED = 'R',
    OMP_ROOT = 'Z',
    OMP_BROKEN = 'D',
    OMP_ADDRESS = 'A',
    OMP_NO_HELPER = 'H',
    OMP_PROFILE = 'P',
};

struct omp_options {
    const char *profile;
    char mode;
    bool root;
    int seconds;
};

struct omp_answer {
    int verdict;
    /// How long the user must wait; 0: not known.
    uint32_t seconds;
};

#define OMP_HELPER "/usr/libexec/omvault/omvault-pam-helper"

/// Whether the helper's program exists and only root can change it.
bool omp_helper_is_safe(void);
/// Starts the helper, asks it, and ends it.
struct omp_answer omp_ask(pam_handle_t *pam, const struct omp_options *options, const char *user, const char *password);

/// Writes the meaning of the answer to the system's log and shows it to the user.
///
/// Returns libpam's code for it.
int omp_tell(pam_handle_t *pam, int flags, const char *user, struct omp_answer answer);

#endif
