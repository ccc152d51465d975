// Scripts with servers: Tests/Servers/serve, named by $SERVE.

import Foundation
import TestSupport
import Testing

enum Serving {
    /// ``Server/shell``, the files `right` and `wrong` with a password, and what many scripts do: `basic URL` and `oauth` make the profile
    /// `work`, `at_nginx` for the server that runs; a KEY=VALUE more goes before what they set. `login` and `check FILE` log alice in.
    /// `agent_folder` makes room for an agent, which ends with the script.
    static let start =
        Server.shell + #"""
            printf 'correct horse 42' > right; printf wrong > wrong
            work() {
                local -A all=()
                local pair
                for pair in ConnectTimeOut=30 TotalTimeOut=30 OfflineAuthAllowed=true MaxLoginAttempts=2 "$@"; do all[${pair%%=*}]=$pair; done
                omvault -q profile set work "${all[@]}"
            }
            basic() { work AuthServerType=HTTPBasicAuthentication "LoginURL=$1" "LogoutURL=$1" "${@:2}"; }
            at_nginx() {
                work AuthServerType=HTTPBasicAuthentication "LoginURL=https://localhost:$port/login" \
                    "LogoutURL=https://localhost:$port/logout" "TrustedCA=$ca" "$@"
            }
            oauth() {
                work AuthServerType=OAuthAuthentication OAuthAuthZGrantType=OAuthResourceOwner OAuthClientID=omvault "$@"
            }
            login() { omvault login alice --kdf-mem 8 --kdf-time 1 --password-from file:right "$@" | sed 's/ age=[0-9]*//'; }
            check() { omvault -q login check alice --kdf-mem 8 --kdf-time 1 --password-from "file:$1" "${@:2}" | sed 's/ age=[0-9]*//'; }
            agent_folder() {
                umask 077
                export XDG_RUNTIME_DIR=$HOME/run
                mkdir "$XDG_RUNTIME_DIR"
                at_end='omvault -q agent stop'
            }

            """#

    /// Runs a script that has to end well.
    ///
    /// - Returns: What it printed, line by line.
    static func lines(_ script: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        let ran = try await bash("set -e\n" + start + script, environment: try await Server.environment)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)", sourceLocation: location)
        return ran.output.split(separator: "\n").map(String.init)
    }
}
