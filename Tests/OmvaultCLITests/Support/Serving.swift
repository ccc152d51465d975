// Scripts with servers: Tests/Servers/serve, named by $SERVE.

import Foundation
import TestSupport
import Testing

enum Serving {
    /// `serve [NAME] KIND` starts a server, called `web` if nothing is said; what it prints becomes variables. `tell stop` and
    /// `tell start` end it and start it again at the same port.
    static let start = """
        servers=()
        # The script ends once its servers have, so that they have removed their files.
        trap '((${#servers[@]} == 0)) || { kill "${servers[@]}"; wait "${servers[@]}"; } 2> /dev/null || true' EXIT
        serve() {
            local name=web
            if (($# == 2)); then name=$1; shift; fi
            mkfifo "$name.in" "$name.out"
            "$SERVE" "$1" "$PWD/$name" < "$name.in" > "$name.out" &
            servers+=($!)
            exec 9> "$name.in" 8< "$name.out"
            heard
        }
        heard() {
            local line
            while read -r line <&8; do
                [[ $line == ready ]] && return
                declare -g "$line"
            done
            echo 'the server did not start'; exit 98
        }
        tell() { echo "$1" >&9; heard; }
        printf 'correct horse 42' > right; printf wrong > wrong

        """

    /// Runs a script that has to end well.
    ///
    /// - Returns: What it printed, line by line.
    static func lines(_ script: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        let ran = try await bash("set -e\n" + start + script, environment: ["SERVE": Programs.serve])
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)", sourceLocation: location)
        return ran.output.split(separator: "\n").map(String.init)
    }
}
