// How the agent's program starts, and what is said about the confinement of its online helper.

import TestSupport
import Testing

@Suite("The agent's start") struct AgentStartTests {
    @Test("the agent starts itself again only if GLIBC_TUNABLES is missing or has another value")
    func tunables() async throws {
        let ran = try await bash(
            """
            own=glibc.malloc.tcache_count=0:glibc.malloc.perturb=90
            tried() {
                status=0
                env "$@" strace -v -s 4096 -qq -o calls -e trace=execve omvault-agent --no-such-option 2> /dev/null || status=$?
                echo $status $(grep -c '"/proc/self/exe"' calls) $(grep '"/proc/self/exe"' calls | grep -c "\\"GLIBC_TUNABLES=$own\\"")
            }
            tried -u GLIBC_TUNABLES
            tried GLIBC_TUNABLES=glibc.malloc.arena_max=1
            tried GLIBC_TUNABLES=glibc.malloc.perturb=0
            tried GLIBC_TUNABLES=$own
            """)
        #expect(ran.output == "2 1 1\n2 1 1\n2 1 1\n2 0 0\n", "\(ran)")
    }

    @Test("agent status names the layers that this kernel lacks, in words and in JSON")
    func lackingLayers() async throws {
        let ran = try await bash(
            AgentTests.start + """
                omvault -q agent start
                omvault agent status | grep '^confinement' | cut -f 2 > words
                omvault agent status --json > document
                python3 - <<'PY'
                import ctypes, json
                version = max(0, ctypes.CDLL(None).syscall(444, None, 0, 1))
                lacking = [name for name, first in (('files', 1), ('ports', 4), ('scope', 6)) if version < first]
                print(json.load(open('document'))['confinement_lacks'] == lacking)
                words = open('words').read().strip()
                print(words == 'whole' if not lacking else words.startswith('this kernel lacks: ') and words.count('Landlock') == len(lacking))
                PY
                """)
        #expect(ran.output == "True\nTrue\n", "\(ran)")
    }
}
