// Killed at every write, sync and unlink of an import that deletes its file.

import TestSupport
import Testing

@Suite struct CertCrashTests {
    @Test("an import killed anywhere loses no key: the file is there, or the vault has the whole identity")
    func deletion() async throws {
        let site = try await CrashSite(
            CertCommandTests.start + """
                leaf ada; pack ada -certfile ca.crt; openssl pkey -in ada.key > wanted
                omvault -q key add-slot --type file --out kf
                """)
        // A kill may leave a charge. Then a password would have to wait, and a key file does not.
        let command = "omvault cert import ada.p12 --password-from file:pw --delete-source --key-file-from file:kf"
        var outcomes: Set<String> = []
        let names = ["pwrite64", "fdatasync", "unlinkat"]
        for (call, count) in try await site.calls(of: command, named: names) {
            for number in Sweep.points(upTo: count, sample: 4) {
                let ran = try await site.kill(
                    command, at: call, number,
                    then: """
                        test -f ada.p12 && file=kept || file=deleted
                        if omvault get identity.ada:private --key-file-from file:kf > key 2> said && cmp -s key wanted; then vault=has
                        elif grep -q 'no item' said; then vault=lacks; else vault=damaged; cat said; fi
                        echo "$file $vault"
                        # The next import does the rest.
                        test $file = deleted || \(command) -q
                        omvault get identity.ada:private --key-file-from file:kf | cmp - wanted && test ! -e ada.p12 && echo whole
                        """)
                let lines = ran.output.split(separator: "\n").map(String.init)
                let at: Comment = "killed at \(call) \(number): \(ran.output) \(ran.errors)"
                #expect(lines.count == 2 && lines.last == "whole", at)
                #expect(["kept lacks", "kept has", "deleted has"].contains(lines.first ?? ""), at)
                outcomes.insert(lines.first ?? "")
            }
        }
        // Kills on both sides of the commit.
        #expect(outcomes.isSuperset(of: ["kept lacks", "kept has"]), "\(outcomes)")
    }
}
