// The real command with vaults that have one changed bit. OMVaultTests/FlipTests tries every byte.

import Foundation
import TestSupport
import Testing

@Suite struct FlipCommandTests {
    private static let vault = """
        set -e
        printf password > password; printf value > value
        omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 --no-recovery
        omvault -q key add-slot --type file --out key --password-from file:password
        omvault -q add item --field x=file:value --key-file-from file:key
        omvault -q add other --level always --field x=file:value --key-file-from file:key

        """

    @Test("a vault with a changed bit gives the right value, or no value and the exit code for damage")
    func sample() async throws {
        let ran = try await bash(
            Self.vault + """
                python3 - <<'PY'
                import collections, os, subprocess
                path = '.local/share/omvault/personal.omv'
                whole = open(path, 'rb').read()
                answers = collections.Counter()
                for part in range(48):
                    # The next byte that is not zero, from 48 places evenly apart.
                    at = len(whole) * part // 48
                    while at < len(whole) - 1 and whole[at] == 0: at += 1
                    for end in '-wal', '-shm':
                        if os.path.exists(path + end): os.unlink(path + end)
                    open(path, 'wb').write(whole[:at] + bytes([whole[at] ^ 1 << part % 8]) + whole[at + 1:])
                    for name in 'item', 'other':
                        ran = subprocess.run(
                            ['omvault', 'get', name + ':x', '--key-file-from', 'file:key'], capture_output=True, timeout=60)
                        said = ran.stdout.decode() or ('error' if b'error: ' in ran.stderr else 'silent')
                        answers[f'{ran.returncode} {said}'] += 1
                for answer in sorted(answers): print(answer, answers[answer])
                PY
                """)
        let answers = Dictionary(
            ran.output.split(separator: "\n").map { line in
                let words = line.split(separator: " ").map(String.init)
                return (words.dropLast().joined(separator: " "), Int(words.last ?? "") ?? 0)
            }
        ) { $0 + $1 }
        print("flips before the real binary: \(answers)")
        let allowed = Set(["0 value", "30 error", "31 error", "4 error"])
        #expect(ran.status == 0 && Set(answers.keys).isSubset(of: allowed), "\(ran)")
        #expect(answers["0 value", default: 0] > 0 && answers["30 error", default: 0] > 20, "\(answers)")
    }
}
