// docs/reference/levels.md, cell by cell, against the real programs.

import Foundation
import TestSupport
import Testing

@Suite("The levels") struct LevelsTests {
    /// Six items, one for each level; `row NAME OPTIONS…` prints the result of a `get` of each.
    private static let start = """
        set -e
        umask 077
        export XDG_RUNTIME_DIR=$(mktemp -d /dev/shm/omvault-test-XXXXXX)
        trap 'omvault -q agent stop 2>/dev/null || true; rm -rf "$XDG_RUNTIME_DIR"' EXIT
        printf 'password\\n' > password
        omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 > recovery
        items=()
        for level in always after-first-unlock when-unlocked; do
            for only in "" --device-only; do
                items+=("$level$only")
                printf secret | omvault -q add "$level$only" --level $level $only --field f=stdin \\
                    --password-from file:password
            done
        done
        row() {
            printf '%s' "$1"; shift
            for item in "${items[@]}"; do
                status=0; value=$(omvault -q get "$item:f" --no-input "$@" 2>/dev/null) || status=$?
                case $status/$value in
                    0/secret) printf '|read' ;;
                    8/) printf '|asks' ;;
                    *) printf '|%s' "$status$value" ;;
                esac
            done
            echo
        }
        unlock() { omvault -q unlock --password-from file:password; }
        pid() { omvault agent status --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["process"])'; }
        slay() { agent=$(pid); kill -9 "$agent"; eventually is_gone "$agent"; }
        reboot() { slay; forget_keys; rm -rf "$XDG_RUNTIME_DIR"/omvault; omvault -q agent start; }
        elsewhere() {
            mkdir -p other/omvault
            cp .local/share/omvault/personal.omv* other/omvault/
            XDG_DATA_HOME=$PWD/other XDG_STATE_HOME=$PWD/none "$@"
        }
        forget_keys() {
            python3 - <<'PY'
        import ctypes, os, platform
        keyctl = {'x86_64': 250, 'aarch64': 219}[platform.machine()]
        libc = ctypes.CDLL(None)
        for name in os.listdir(os.environ['XDG_RUNTIME_DIR'] + '/omvault'):
            if name.startswith('omvault-ticket-'):
                key = libc.syscall(keyctl, 10, -4, b'user', name.encode(), 0)
                if key > 0: libc.syscall(keyctl, 21, key)
        PY
        }

        """

    @Test("the tables have one answer for each of the six levels in each of the eight states")
    func cells() throws {
        let states = [
            "never unlocked", "unlocked", "locked", "agent killed", "agent restarted", "reboot", "other machine",
            "device key missing",
        ]
        for (name, states) in [("without", states), ("recovery", ["never unlocked"] + states.suffix(2))] {
            let rows = try table(name).split(separator: "\n").map { $0.split(separator: "|").map(String.init) }
            #expect(Set(states).subtracting(rows.map { $0[0] }).isEmpty, "\(name)")
            for row in rows {
                #expect(row.count == 7 && row.dropFirst().allSatisfy { ["read", "asks", "30", "10"].contains($0) })
            }
        }
    }

    @Test("R39 without a password each item is read or refused as the table says")
    func without() async throws {
        let ran = try await bash(
            Self.start + """
                row 'never unlocked'
                unlock; row unlocked
                omvault -q lock; row locked
                omvault -q lock --forget; row 'locked, forgotten'
                unlock; omvault -q lock; slay; row 'agent killed'
                omvault -q agent start; row 'agent restarted'
                unlock; omvault -q lock; reboot; row 'reboot'
                omvault -q policy set afu-ticket on --password-from file:password
                unlock; omvault -q lock; slay; omvault -q agent start; row 'agent restarted, ticket on'
                unlock; omvault -q lock; slay; forget_keys; rm -f "$XDG_RUNTIME_DIR"/omvault/omvault-secret-*
                omvault -q agent start; row 'keyring revoked, ticket on'
                unlock; omvault -q lock; slay; rm -rf "$XDG_RUNTIME_DIR"/omvault
                omvault -q agent start; row 'runtime folder cleared, ticket on'
                unlock; omvault -q lock; reboot; row 'reboot, ticket on'
                omvault -q agent stop
                elsewhere row 'other machine'
                mv .local/state/omvault-device/device.key aside; row 'device key missing'
                """)
        #expect(ran.output == (try table("without")), "\(ran)")
    }

    @Test("R39 with the recovery code each item is read or refused as the table says")
    func recovery() async throws {
        let ran = try await bash(
            Self.start + """
                row 'never unlocked' --recovery-from file:recovery
                elsewhere row 'other machine' --recovery-from file:recovery
                mv .local/state/omvault-device/device.key aside
                row 'device key missing' --recovery-from file:recovery
                """)
        #expect(ran.output == (try table("recovery")), "\(ran)")
    }

    @Test("a ticket is written only where the policy says so, only in memory, and goes with lock --forget")
    func ticket() async throws {
        let ran = try await bash(
            Self.start + """
                tickets() { echo "$1: $(find "$XDG_RUNTIME_DIR" -name 'omvault-ticket-*' 2>/dev/null | wc -l)"; }
                unlock; tickets 'unlocked, policy off'
                omvault -q policy set afu-ticket on --password-from file:password
                unlock; tickets 'unlocked, policy on'
                omvault -q lock --forget; tickets 'forgotten'
                unlock; slay; tickets 'agent killed'
                omvault -q lock --forget; tickets 'forgotten without an agent'
                unlock; omvault -q policy set afu-ticket off --password-from file:password; slay
                omvault -q agent start
                omvault get after-first-unlock:f --no-input 2>/dev/null || echo "asks: exit $?"
                tickets 'policy off again'
                omvault -q agent stop
                memory=$XDG_RUNTIME_DIR
                omvault -q policy set afu-ticket on --password-from file:password
                XDG_RUNTIME_DIR=$(mktemp -d \(TestFolder.disk)/omvault-test-XXXXXX)
                unlock; tickets 'runtime folder on a disk'; omvault -q agent stop
                rm -r "$XDG_RUNTIME_DIR"; XDG_RUNTIME_DIR=$memory
                """)
        let inMemory = try await bash("stat -f -c %T \(TestFolder.disk)").output == "tmpfs\n"
        #expect(
            ran.output == """
                unlocked, policy off: 0
                unlocked, policy on: 1
                forgotten: 0
                agent killed: 1
                forgotten without an agent: 0
                asks: exit 8
                policy off again: 0
                runtime folder on a disk: \(inMemory ? 1 : 0)

                """, "\(ran)")
    }

    /// The rows of a table of docs/reference/levels.md, as the script prints them.
    private func table(_ name: String) throws -> String {
        let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/reference/levels.md")
        let lines = try String(contentsOf: page, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex(of: "<!-- table: \(name) -->"))
        #expect(
            lines[start + 1].split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } == [
                "state", "always", "device-only", "after-first-unlock", "device-only", "when-unlocked", "device-only",
            ])
        let rows = lines[(start + 3)...].prefix { $0.hasPrefix("|") }
        #expect(rows.count >= 3)
        return rows.map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "|") + "\n"
        }.joined()
    }
}
