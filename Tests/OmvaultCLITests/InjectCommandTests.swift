// `omvault inject` and `omvault redact`: templates with secrets, and texts without them.

import Foundation
import TestSupport
import Testing

@Suite("Templates, and texts without secrets") struct InjectCommandTests {
    private static let start = #"""
        umask 022
        printf 'correct horse' > pw
        export OMVAULT_PASSWORD_FROM=file:pw
        omvault -q init --kdf-mem 8 --kdf-time 1 > code
        code() { local code=0; "$@" 2> errors || code=$?; echo "$code"; }
        printf 's3cret-word' | omvault -q add prod/db --field password=stdin --plain username=ada-lovelace

        """#

    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        let ran = try await bash("set -e\n" + Self.start + text)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)", sourceLocation: location)
        return ran.output.split(separator: "\n").map(String.init)
    }

    @Test("a template is filled as a whole or not at all; the file is 0600, and is replaced only on demand")
    func inject() async throws {
        let lines = try await script(
            #"""
            printf 'name: {{ om://personal/prod/db/username }} {{ .Other }}\npw: {{om://personal/prod/db/?format=base64}}\n' > template
            omvault inject < template
            omvault inject -i template -o out; stat -c %a out; cat out
            code omvault inject -i template -o out; code omvault inject -i template -o open --mode 0644; stat -c %a open
            umask 077; omvault inject -i template -o out --force --json
            omvault inject -i template -o grouped --mode 0640; omvault inject -i template -o fixed --mode 0400; stat -c %a grouped fixed
            printf 'a {{ om://personal/prod/db/password }}\nb {{ om://personal/none/x }}\n' > missing
            code omvault inject -i missing -o none; head -n 1 errors; code omvault inject -i missing; [[ -e none ]] || echo nothing written
            omvault inject -i missing --allow-missing 2> errors; grep -c 'line 2' errors
            printf 'x {{ om://personal }}' | code omvault inject; head -n 1 errors
            code omvault inject -i template --mode 0600; code omvault inject -i template -o x --mode 4755
            printf '{{ om://personal/prod/db/password }}' > value; printf '{{ om://personal/value/password }}' > outer
            omvault -q add value --field password=file:value; omvault inject -i outer; echo
            """#)
        #expect(
            lines == [
                "name: ada-lovelace {{ .Other }}", "pw: czNjcmV0LXdvcmQ=", "600", "name: ada-lovelace {{ .Other }}",
                "pw: czNjcmV0LXdvcmQ=", "5", "0", "644", "{\"schema\":\"omvault/1\",\"file\":\"out\",\"bytes\":53}", "640", "400",
                "10", "omvault: error: line 2: no item \"none\" in vault \"personal\"", "10", "nothing written",
                "a s3cret-word", "b ", "1", "2", "omvault: error: line 1: \"om://personal\" is no reference: it names no item",
                "2", "2",
                "{{ om://personal/prod/db/password }}",
            ])
    }

    @Test("at a terminal a filled template needs --reveal")
    func terminal() async throws {
        let ran = try await atTerminal(
            Self.start
                + #"echo '{{ om://personal/prod/db/ }}' > t; omvault inject -i t; echo "= $?"; omvault inject -i t --reveal"#)
        #expect(ran.output.contains("standard output is a terminal") && ran.output.contains("= 2"))
        #expect(ran.output.components(separatedBy: "s3cret-word").count == 2, "\(ran.output)")
    }

    @Test("a text loses all concealed values of the vault, in the agent and without it, and keeps every other byte")
    func redact() async throws {
        let lines = try await script(
            #"""
            export XDG_RUNTIME_DIR=$HOME/run; mkdir -m 700 run
            printf 'pin' | omvault -q add short --field pin=stdin
            printf 'multi\nline "key"\n' | omvault -q add key --type note --field notes=stdin --keep-newline
            printf 'old-value' | omvault -q add old --field password=stdin; omvault -q rm old
            printf 'user ada-lovelace pw s3cret-word s3cret-wor pin old-value\nmulti\nline "key"\nmulti\\nline \\"key\\" czNjcmV0LXdvcmQ=\ns3cret-wo' > log
            omvault redact -i log 2> errors; echo; grep -c '1 value' errors
            omvault -q unlock --password-from file:pw; unset OMVAULT_PASSWORD_FROM
            omvault -q redact --no-input < log | md5sum; omvault -q redact -i log -o shown --no-input; md5sum < shown; stat -c %a shown
            head -c 1000000 /dev/urandom > bytes; omvault -q redact -i bytes | cmp - bytes && echo exact
            omvault -q redact < /dev/null | wc -c
            omvault -q lock --forget; code omvault redact -i log --no-input
            omvault -q agent stop
            """#)
        let sum = lines.count > 6 ? lines[6] : ""
        #expect(
            lines == [
                "user ada-lovelace pw <concealed> s3cret-wor pin old-value", "<concealed>", "<concealed> <concealed>",
                "s3cret-wo", "1",
                sum, sum, "600", "exact", "0", "8",
            ])
    }
}
