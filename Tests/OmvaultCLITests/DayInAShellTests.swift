// The guide of a day in a shell, with new secrets, and a search for each of them in every place where another program, another user
// or a later day could find it. `TranscriptTests` compares what its commands show.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A day in a shell", .enabled(if: geteuid() == 0, "only root reads every process, and has a /dev/log of its own"))
struct DayInAShellTests {
    private static let page = "docs/guide/a-day-in-a-shell.md"

    /// The commands of the page as a script that keeps a history, as a shell at a terminal does. A command with another exit code
    /// than the page's writes its line into the file `failed`.
    private static func typed() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let page = try Transcript.session(of: String(contentsOf: root.appending(path: page), encoding: .utf8), named: page)
        var script =
            Transcript.start + """
                HISTFILE=$HOME/.bash_history HISTSIZE=100000 HISTCONTROL=
                # The secrets, and what is made of them before the day begins.

                """
        for (index, step) in page.steps.enumerated() {
            let isShown = step.output != nil
            script += isShown ? "set -o history\n\(step.command)\n" : "\(step.command)\n"
            script += "code=$?; set +o history; ((code == \(step.status))) || echo \"line \(step.line): $code\" >> failed\n"
            if index == 0 { script += "cp -r secrets \"$day/secrets\"; touch mark\n" }
        }
        return script + "set -o history; watched; history -a; cp secrets/paper \"$day/secrets\"\n"
    }

    private static let begin = #"""
        touch mark
        serve day day
        skipped=day:secrets:web:.system

        """#

    private static let work = #"""
        # What programs are started with, and what is written to files: also what is gone before the day ends.
        traced() {
            strace -f --seccomp-bpf -qq -v -y -xx -s 1048576 -e signal=none -A -o "$day/trace" \
                -e trace=execve,write,pwrite64,writev,pwritev,copy_file_range,sendfile bash "$@"
        }
        traced typed < /dev/null > shown 2>&1 || { tail shown; exit 97; }
        if [[ -e failed ]]; then cat failed shown; exit 96; fi
        echo "typed $(grep -c omvault .bash_history)"
        # `run` gave this secret to a program, which starts two others. The watcher sees them or not, and the trace has them.
        search | grep -vx 'database /proc environ'
        awk '{ print "sought", $1 }' counts
        # Each place is searched: a secret there would have been found.
        cat secrets/door >> .bash_history
        planted=$(< secrets/door)
        plant "$planted"
        cat > short <<'END'
        secret=$(< secrets/door)
        printf %s "$secret" > gone; rm gone; cat secrets/door > /dev/shm/omvault-day-gone; rm /dev/shm/omvault-day-gone
        /bin/true "$secret"; SECRET=$secret /bin/true
        END
        traced short
        echo planted
        search | grep ^door
        """#

    @Test("no secret of the day is in an argument, another program's environment, the history, the log or a file")
    func day() async throws {
        let home = try TestFolder()
        try Data(Self.typed().utf8).write(to: URL(filePath: home.file("typed")))
        let ran = try await bash(
            "set -e\n" + Server.shell + WatchedDay.start + Self.begin + WatchedDay.log + Self.work,
            environment: try await Server.environment, home: home)
        let lines = ran.output.split(separator: "\n").map(String.init)
        try #require(ran.status == 0 && !lines.isEmpty, "\(ran.output)\(ran.errors)")
        // The page has so many lines with omvault.
        #expect(lines[0].hasPrefix("typed ") && Int(lines[0].dropFirst(6)) ?? 0 > 25, "\(lines)")
        #expect(
            Array(lines.dropFirst()) == [
                "database variable cat", "database variable sh", "database variable wc",
                "sought api", "sought badge", "sought card", "sought certificate", "sought company", "sought database",
                "sought door",
                "sought file", "sought kept", "sought mail", "sought note", "sought otp", "sought paper",
                "sought pin", "sought ssh", "sought vault", "sought wiki",
                "planted", "door .bash_history", "door /dev/log", "door /dev/shm", "door /proc cmdline", "door /proc environ",
                "door /tmp", "door argument true", "door later/file",
                "door variable true", "door written /dev/shm/omvault-day-gone", "door written gone",
            ], "\(lines)")
    }
}
