// The servers of Tests/Servers, for scripts and for tests.

import Foundation

public final class Server: Sendable {
    /// Functions for scripts, which need $SERVE. `serve [NAME] KIND` starts a server with the name `web` or NAME. Its output
    /// becomes variables, and stays in `facts`. The script runs the commands in `at_end` when it ends. `tell stop` ends the
    /// server, and `tell start` starts it again at the same port.
    public static let shell = """
        inputs=() outputs=() facts=() at_end=
        trap '{ eval "$at_end"; finish; } 2> /dev/null || true' EXIT
        serve() {
            local name=web input output
            if (($# == 2)); then name=$1; shift; fi
            mkfifo "$name.in" "$name.out"
            echo "$1 $PWD/$name" > "$SERVE"
            exec {input}> "$name.in" {output}< "$name.out"
            inputs+=($input) outputs+=($output)
            heard
        }
        heard() {
            local line
            while read -r line <&${outputs[-1]}; do
                [[ $line == ready ]] && return
                declare -g "$line"
                facts+=("$line")
            done
            echo 'the server did not start'; cat ./*.errors; exit 98
        }
        tell() { echo "$1" >&${inputs[-1]}; heard; }
        # Waits until the servers have ended, so that they have removed their files.
        finish() {
            local each
            ((${#inputs[@]} == 0)) || trap '' PIPE
            for each in "${inputs[@]}"; do echo end >&$each; done
            for each in "${outputs[@]}"; do while read -r <&$each; do :; done; done
            inputs=() outputs=()
        }
        # nginx writes to its log after its answer, in the order of its answers. Once this request is there, so are all before it.
        all_logged() {
            local request="/look-$RANDOM$RANDOM"
            (
                exec 7<> "/dev/tcp/127.0.0.1/$plain"
                printf 'GET %s HTTP/1.0\\r\\n\\r\\n' "$request" >&7
                cat <&7 > /dev/null
            )
            eventually grep -qF "$request" "$log"
        }

        """

    private static let served = #"""
        serve "$0"
        printf '%s\n' "${facts[@]}" ready
        while read -r word; do tell "$word"; echo ready; done
        # The folder of a server for all tests has no owner any more.
        finish
        rm -rf "$PWD"
        """#

    /// The variables of scripts that serve: SERVE names the pipe of the launcher, which all tests share.
    public static var environment: [String: String] {
        get async throws { ["SERVE": try await launcher.value.folder.file("ask")] }
    }

    /// `Tests/Servers/serve launcher`: otherwise each server would start Python, and a dozen programs to make its certificates.
    private static let launcher = Task {
        let folder = try TestFolder()
        let program = try Companion(
            [Programs.serve, "launcher", folder.path], in: folder,
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"])
        guard await program.line() == "ready" else {
            let errors = FileManager.default.contents(atPath: folder.file("errors")) ?? Data()
            throw NotStarted(program: Programs.serve, reason: String(decoding: errors, as: UTF8.self))
        }
        return (folder: folder, program: program)
    }

    // Each starts once for all tests, and ends after the tests' process.
    public static let nginx = Task { try await Server("nginx") }
    public static let odd = Task { try await Server("odd") }
    public static let glewlwyd = Task { try await Server("glewlwyd") }
    public static let postgres = Task { try await Server("postgres") }

    public let facts: [String: String]
    private let script: Companion

    /// A server for one test. It ends when the test releases it.
    public init(_ kind: String) async throws {
        let folder = try TestFolder()
        script = try Companion(
            ["/bin/bash", "-c", "set -e\n" + Self.shell + Self.served, kind],
            in: folder, environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"].merging(try await Self.environment) { $1 })
        var facts: [String: String] = [:]
        while let line = await script.line(), line != "ready" {
            facts[String(line.prefix { $0 != "=" })] = String(line.drop { $0 != "=" }.dropFirst())
        }
        self.facts = facts
        guard facts.count > 1 else {
            let errors = FileManager.default.contents(atPath: folder.file("errors")) ?? Data()
            throw NotStarted(program: kind, reason: "\(facts) \(String(decoding: errors, as: UTF8.self))")
        }
    }

    /// Ends the server. Its ports stay reserved and refuse connections.
    public func stop() async {
        script.say("stop")
        _ = await script.line()
    }

    public subscript(_ key: String) -> String { facts[key] ?? "no \(key)" }

    public var ca: [UInt8] { contents("ca") }

    public func contents(_ key: String) -> [UInt8] { Array(FileManager.default.contents(atPath: self[key]) ?? Data()) }

    /// An address at this server.
    public func url(_ path: String, _ key: String = "port", scheme: String = "https", host: String = "localhost") -> String {
        "\(scheme)://\(host):\(self[key])\(path)"
    }
}
