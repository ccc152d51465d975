// `omvault find` as a user meets it.

import Foundation
import TestSupport
import Testing

@Suite("The verb find") struct FindCommandTests {
    private static let items = """
        put() { printf '%s' "$3" | omvault -q add "$1" --field "$2=stdin" --password-from file:password; }
        put github username mona@example.org
        put gitlab token 'a Token of EXAMPLE'
        put example note nothing

        """

    @Test("names come out, with and without an agent, and never what was found")
    func names() async throws {
        let ran = try await bash(
            AgentTests.start + Self.items + """
                for how in here agent; do
                    find() { omvault find "$@" --no-agent --password-from file:password; }
                    if [[ $how == agent ]]; then unlock; find() { omvault find "$@" --no-input; }; fi
                    echo "$how"
                    find example
                    find example git | tr '\\n' ' '; echo
                    find mona --in username --fields name,level
                    find mona --in name
                    find example --in name,token --json | python3 -c '
                import json, sys
                print([(i["name"], i["fields"]) for i in json.load(sys.stdin)["items"]])'
                    printf 'mona@' | find --query-from stdin
                    find nowhere; echo "found nothing: $?"
                done
                omvault -q rm github
                omvault find mona; omvault find mona --trash
                { omvault find mona --in name,nosuch,token; } 2>&1
                { omvault find mona --in username; omvault find mona --in username,token --trash; } 2>&1
                omvault find git --in name,nosuch --json 2>/dev/null | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["items"]))'
                """)
        let expected = """
            example
            github
            gitlab
            github gitlab\u{20}
            github\twhen-unlocked
            [('example', ['note']), ('gitlab', ['token'])]
            github
            found nothing: 0

            """
        let strangers = """
            omvault: no item that is readable now has a field "nosuch"
            omvault: no item that is readable now has a field "username"
            github
            omvault: no item in the trash has a field "token"
            1

            """
        #expect(ran.output == "here\n\(expected)agent\n\(expected)github\n\(strangers)", "\(ran)")
    }

    @Test("nothing to look for, a word that is too long, and a place that is no field are refused; locked, it asks")
    func refusals() async throws {
        let ran = try await bash(
            AgentTests.start + """
                refused 2 omvault find
                refused 2 omvault find ''
                refused 2 omvault find "$(head -c 1025 /dev/zero | tr '\\0' x)"
                refused 2 omvault find x --in a/b
                refused 2 omvault find x --fields secret
                refused 2 omvault find a b c d e f g h i j k l m n o p q
                refused 8 omvault find x --no-input
                unlock; omvault -q lock
                refused 8 omvault find x --no-input
                """)
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("what --query-from reads stands in no argument and in no error")
    func query() async throws {
        let ran = try await bash(
            AgentTests.start + """
                unlock
                printf 'a-secret-to-look-for' > query
                strace -f -qq -e trace=execve -o calls omvault find --query-from file:query
                refused 1 grep a-secret-to-look-for calls
                printf 'a-secret-to-look-for%01100d' 1 > query
                code omvault find --query-from file:query
                refused 1 grep a-secret-to-look-for told
                """)
        #expect(ran.status == 0 && ran.output == "2\n", "\(ran)")
    }
}
