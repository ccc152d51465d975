// What the module and its helper say to each other: docs/pam.md, "Module and helper". libpam finds the module's functions
// by their names; no other program includes this.
#ifndef PAM_OMVAULT_H
#define PAM_OMVAULT_H

/// magic ‖ nonce (16) ‖ mode (1) ‖ seconds (2) ‖ lengths of profile (1), user (2) and password (4), big-endian ‖ the three.
#define OMP_ASK "OMP2"
/// magic ‖ the question's nonce (16) ‖ verdict (1)
#define OMP_ANSWER "OMA1"

enum {
    OMP_MAGIC = 4,
    OMP_NONCE = 16,
    OMP_ASK_HEAD = OMP_MAGIC + OMP_NONCE + 1 + 2 + 1 + 2 + 4,
    OMP_ANSWER_COUNT = OMP_MAGIC + OMP_NONCE + 1,
};

/// No verdict is 0: memory that nobody wrote is not one.
enum omp_verdict {
    OMP_GRANTED = 'G',
    OMP_WRONG = 'W',
    OMP_LOCKED_OUT = 'L',
    OMP_WIPED = 'X',
    OMP_NO_CREDENTIAL = 'N',
    OMP_EXPIRED = 'E',
    OMP_UNREACHABLE = 'U',
    OMP_WAIT = 'B',
    OMP_BROKEN = 'D',
    OMP_REFUSED = 'R',
    OMP_FORBIDDEN = 'F',
    OMP_NO_VERDICT = 'S',
};

#endif
