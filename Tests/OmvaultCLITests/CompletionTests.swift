// Completion in a shell: names come from the agent and from folders, and nothing is ever asked.

import TestSupport
import Testing

@testable import omvault

@Suite("Completion") struct CompletionTests {
    /// A vault in an agent, and `complete_in_bash WORD…`, which prints what Tab offers for the last word.
    private static let start = #"""
        set -e
        export XDG_RUNTIME_DIR=$HOME/run; mkdir -m 700 "$XDG_RUNTIME_DIR"; at_end='omvault -q agent stop'
        printf pw > pw
        for vault in personal work; do
            omvault -q init $vault --no-recovery --kdf-mem 8 --kdf-time 1 --password-from file:pw
        done
        omvault -q unlock --password-from file:pw
        for item in github 'git lab' '$(touch ran)' "it's"; do omvault -q add "$item" --field password=file:pw; done
        omvault --vault work -q add secret-of-work --password-from file:pw --field password=file:pw
        omvault completion bash > script
        source ./script
        # Bash completes in a shell that does not end with a command that fails.
        set +e
        complete_in_bash() {
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
            _omvault omvault "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
            [[ ${#COMPREPLY[@]} == 0 ]] || printf '%s\n' "${COMPREPLY[@]}"
        }

        """#

    private func offered(_ script: String) async throws -> [String] {
        let ran = try await bash(Self.start + script)
        #expect(ran.status == 0 && ran.errors == "", "\(ran.output)\(ran.errors)")
        return ran.output.split(separator: "\n").map(String.init)
    }

    @Test("bash completes the items of the vault that the agent has open, exactly as they are called")
    func items() async throws {
        #expect(try await offered("complete_in_bash omvault get git | sort") == ["git lab", "github"])
        #expect(try await offered("complete_in_bash omvault rm it") == ["it's"])
        #expect(try await offered("complete_in_bash omvault get '$'; [[ ! -e ran ]] || echo ran") == ["$(touch ran)"])
    }

    @Test("no item is offered of a vault that is locked, and nobody is asked for a password")
    func locked() async throws {
        #expect(try await offered("complete_in_bash omvault get --vault work ''") == [])
        #expect(try await offered("omvault -q lock; complete_in_bash omvault get ''") == [])
        let ran = try await bash(
            "HOME=/nowhere omvault ---completion get -- positional@0 2 0 omvault get ''; omvault completion bash | bash -n")
        #expect(ran.status == 0 && ran.output == "\n" && ran.errors == "", "\(ran.output)\(ran.errors)")
    }

    @Test("bash completes vaults, levels, algorithms, sources, commands and options")
    func others() async throws {
        #expect(try await offered("complete_in_bash omvault get --vault ''") == ["personal", "work"])
        #expect(try await offered("complete_in_bash omvault add x --level w") == ["when-unlocked"])
        #expect(try await offered("complete_in_bash omvault crypto hash --alg sha512") == ["sha512", "sha512-224", "sha512-256"])
        #expect(try await offered("complete_in_bash omvault add x --password-from s") == ["stdin"])
        #expect(try await offered("complete_in_bash omvault comp") == ["completion"])
        #expect(try await offered("complete_in_bash omvault manual key rm") == ["rm-slot"])
        #expect(try await offered("complete_in_bash omvault get --reve") == ["--reveal"])
    }

    @Test("each shell has a script, and each script asks omvault for items", arguments: ["bash", "zsh", "fish"])
    func scripts(shell: String) async throws {
        let ran = try await bash("omvault completion \(shell)")
        #expect(ran.status == 0 && ran.output.contains("omvault") && ran.output.contains("---completion get -- "))
        #expect(try await bash("omvault completion \(shell)  --json").output == ran.output)
        let names = try await bash(
            "SAP_SHELL=\(shell) omvault ---completion crypto hash -- --alg 4 0 omvault crypto hash --alg ''")
        #expect(names.output.contains("sha256\n"), "\(names.errors)")
    }
}
