// The store that PAM asks, as root keeps it at the command line.

import Foundation
import Glibc
import Testing

@Suite("the system store at the command line", .enabled(if: geteuid() == 0, "only root has a system store"))
struct SystemStoreTests {
    @Test("login unlock gives a locked login all its attempts again, and the log has an entry")
    func unlocks() async throws {
        try await PamTests().inSystem(
            #"""
            enroll ada work right
            lock() { for n in 1 2 3; do answers ada wrong '.'; done; answers ada right 'maximum number of retries'; }
            lock
            cp -a /var/lib/omvault/logins.db locked
            omvault login unlock ada --system --json | grep '"result":"unlocked","user":"ada","profile":"work","attempts":3'
            granted ada right
            omvault login unlock ada --system --json | grep '"attempts":0'
            lock
            omvault -q login unlock ada --system --profile work
            omvault log ls --logins --system | cut -f 5,6 | tail -n 1 | grep -x \
                $'unlocked\tby omvault login unlock; attempts that were counted: 3'
            omvault log ls --logins --system --json | grep '"event":"unlocked".*"attempts":3'
            omvault -q log verify --logins --system
            answers ada wrong 'Authentication failure'; answers ada wrong 'Authentication failure'
            answers ada wrong 'maximum number'; answers ada right 'maximum number'
            # A ledger from before.
            rm -f /var/lib/omvault/logins.db*; cp -a locked /var/lib/omvault/logins.db
            refused 31 omvault login unlock ada --system
            refused 31 omvault login check ada --system --password-from file:right
            """#)
    }

    @Test("login unlock tells the limit in force, also if it is the server's")
    func limit() async throws {
        try await PamTests().inSystem(
            #"""
            serve web nginx
            web /login
            omvault -q profile set work "ProfileURL=https://localhost:$port/profile" ApplicationName=WhitePages \
                MaxLoginAttempts=9 OnAttemptsExceeded=lockout --system
            granted alice horse
            module profile=work mode=offline
            answers alice wrong 'Authentication failure'
            omvault login unlock alice --system > said 2>&1
            grep 'unlocked alice under profile "work": after 3 wrong passwords in a row, the next wrong one locks the login (the server' said
            """#)
    }

    @Test("login unlock exits with 24 for a missing or wiped login, 13 in a user's own store, 14 for any user but root")
    func refuses() async throws {
        try await PamTests().inSystem(
            #"""
            refused 24 omvault login unlock ada --system
            enroll ada work right
            refused 24 omvault login unlock bob --system
            refused 13 omvault login unlock ada
            chmod 755 "$PWD"
            refused 14 setpriv --reuid=65534 --clear-groups omvault login unlock ada --system
            for n in 1 2 3; do answers ada wrong '.'; done
            # A wipe that is due is not cancelled.
            omvault -q profile set work OnAttemptsExceeded=wipe --system
            refused 24 omvault login unlock ada --system
            refused 23 omvault login check ada --system --password-from file:right
            refused 24 omvault login unlock ada --system
            refused 23 omvault login check ada --system --password-from file:right
            """#)
    }

    @Test("login unlock killed at any write or sync leaves a locked or an unlocked login, and the next one finishes")
    func killed() async throws {
        try await PamTests().inSystem(
            #"""
            enroll ada work right
            for n in 1 2 3; do answers ada wrong '.'; done
            cp -a /var/lib/omvault kept
            restore() { find /var/lib/omvault -mindepth 1 -delete; cp -a kept/. /var/lib/omvault; }
            states=()
            for call in pwrite64 fdatasync; do
                for ((number = 1; ; number++)); do
                    restore
                    code=0
                    strace -f -o trace -e trace=$call -e inject=$call:signal=SIGKILL:when=$number \
                        omvault -q login unlock ada --system > said 2>&1 || code=$?
                    ((code == 0)) && break
                    ((code == 137))
                    state=$(omvault login status ada --profile work --system --json |
                        grep -oE '"offline":(true|false)|"(charged|failed)":[0-9]' | paste -sd ' ')
                    states+=("$state")
                    case $state in
                    '"offline":false "charged":3 "failed":3') answers ada right 'maximum number' ;;
                    '"offline":true "charged":0 "failed":0') ;;
                    *) echo "killed at $call $number: $state"; exit 96 ;;
                    esac
                    omvault -q log verify --logins --system
                    omvault -q login unlock ada --system
                    granted ada right
                done
            done
            printf '%s\n' "${states[@]}" | sort | uniq -c
            [[ $(printf '%s\n' "${states[@]}" | sort -u | wc -l) == 2 ]]
            """#)
    }

    @Test("with --system no OMVAULT_ variable and no credentials folder is read, and no program of a variable runs")
    func variables() async throws {
        try await PamTests().inSystem(
            #"""
            enroll ada work right
            printf '#!/bin/sh\ntouch "%s/ran"\ncat "%s/right"\n' "$PWD" "$PWD" > evil; chmod 755 evil
            for source in "file:$PWD/right" "cmd:$PWD/evil" nonsense; do
                export OMVAULT_PASSWORD_FROM=$source
                for verb in 'check ada' 'enroll ada' 'passwd ada --new-password-from file:wrong'; do
                    refused 8 omvault login $verb --system --profile work --no-input
                    refused 8 omvault --no-input login $verb --profile work --system
                done
            done
            [[ ! -e ran ]]
            export OMVAULT_FORMAT=nonsense
            omvault login status --system
            export CREDENTIALS_DIRECTORY=$PWD
            refused 2 omvault login check ada --system --profile work --password-from cred:right
            grep 'CREDENTIALS_DIRECTORY is not set' .refused
            # Not a word of the command's own.
            unset OMVAULT_FORMAT; export OMVAULT_PASSWORD_FROM=file:right
            refused 9 omvault login check --profile work -- --system
            """#)
    }

    @Test("a profile of the system store leaves /etc/omvault readable for the logins of other users")
    func readable() async throws {
        try await PamTests().inSystem(
            #"""
            rm -rf /etc/omvault
            (umask 077; omvault -q profile set work OfflineAuthAllowed=true --system)
            [[ $(stat -c %a /etc/omvault /etc/omvault/profiles | paste -sd ' ') == '755 700' ]]
            chmod 755 "$PWD"
            HOME=/nonexistent setpriv --reuid=65534 --clear-groups omvault profile ls
            """#)
    }

    @Test("each verb refuses a store that other users can read, and the hint makes the store usable again")
    func foldersOfRoot() async throws {
        try await PamTests().inSystem(
            #"""
            enroll ada work right
            for folder in /var/lib/omvault /var/lib/omvault/device /etc/omvault/profiles; do
                for mode in 777 755 710; do
                    chmod $mode $folder
                    for verb in status 'check ada --password-from file:right'; do
                        refused 14 omvault login $verb --system --profile work
                        grep -q "hint: if you trust its contents: chmod 700 $folder\$" .refused
                    done
                    answers ada right 'Error in service module'
                done
                $(sed -n 's/.*trust its contents: //p' .refused)
                granted ada right
            done
            chmod 777 /var/lib
            refused 14 omvault login status --system
            grep -q 'chmod go-w /var/lib$' .refused
            chmod 755 /var/lib
            """#)
    }

    @Test("no login of the system store reads the default vault of a user, and doctor --system checks the store only")
    func doctor() async throws {
        try await PamTests().inSystem(
            #"""
            enroll ada work right
            (umask 077; mkdir -p "$HOME/.config/omvault"); printf 'x' > "$HOME/.config/omvault/default-vault"
            chmod 666 "$HOME/.config/omvault/default-vault"
            refused 14 omvault ls
            absent() { if grep -q default-vault trace; then exit 97; fi; }
            strace -f -qq -o trace -e trace=file omvault login check ada --system --password-from file:right; absent
            strace -f -qq -o trace -e trace=file omvault -q doctor --system --json > said || test $? = 42; absent
            grep -q '"check":"logins","result":"ok","found":"1 cached login, all as this device wrote them"' said
            grep -q '"check":"folder device","result":"ok","found":"/var/lib/omvault/device"' said
            if grep -q "$HOME/.local" said; then exit 96; fi
            at=http://127.0.0.1:8099
            omvault -q profile set web AuthServerType=HTTPBasicAuthentication LoginURL=$at/in LogoutURL=$at/out --system
            chmod 770 /var/lib/omvault/device
            refused 42 omvault -q doctor --system
            grep -P '^folder device\tproblem\t/var/lib/omvault/device is not used: other users can read or change it' .refused
            chmod 700 /var/lib/omvault/device
            refused 42 omvault -q doctor --system
            grep -P '^profile web\tproblem\t.*any user of this machine could be the server' .refused
            chmod 755 "$PWD"
            refused 14 setpriv --reuid=65534 --clear-groups omvault doctor --system
            """#)
    }
}
