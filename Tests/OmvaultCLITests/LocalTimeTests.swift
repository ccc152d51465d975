// Times for people in the zone of the machine. What tables show is in Tests/Transcripts/values.md.

import Foundation
import TestSupport
import Testing

@testable import OMShell
@testable import omvault_full

@Suite("Local times") struct LocalTimeTests {
    @Test("before and behind each change of the clocks a time has the offset that was in force")
    func offsets() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1)
            // The last and the first second of each offset: 29 March and 25 October 2026, at 01:00 UTC.
            let expected: [(Int64, String)] = [
                (1_774_745_999, "2026-03-29T01:59:59+01:00"), (1_774_746_000, "2026-03-29T03:00:00+02:00"),
                (1_792_889_999, "2026-10-25T02:59:59+02:00"), (1_792_890_000, "2026-10-25T02:00:00+01:00"),
                (0, "1970-01-01T01:00:00+01:00"),
            ]
            for (seconds, text) in expected {
                #expect(LocalTime.text(seconds) == text)
                #expect(Timestamp.seconds(text) == seconds)
            }
            #expect(LocalTime.zone == "local")
        }
    }

    @Test("an offset can be west of Greenwich, or no whole hours")
    func otherOffsets() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "NST3:30", 1)
            #expect(LocalTime.text(1_774_746_000) == "2026-03-28T21:30:00-03:30")
            #expect(Timestamp.seconds("2026-03-28T21:30:00-03:30") == 1_774_746_000)
        }
        await #expect(processExitsWith: .success) {
            setenv("TZ", "GMT0", 1)
            // Not called UTC, so the time says which offset it has.
            #expect(LocalTime.text(0) == "1970-01-01T00:00:00+00:00")
        }
    }

    @Test("in UTC a time ends with Z")
    func utc() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "UTC", 1)
            #expect(LocalTime.text(1_774_746_000) == "2026-03-29T01:00:00Z" && LocalTime.zone == "UTC")
        }
        await #expect(processExitsWith: .success) {
            setenv("TZ", "", 1)
            #expect(LocalTime.text(1_774_746_000) == "2026-03-29T01:00:00Z" && LocalTime.zone == "UTC")
        }
    }

    @Test(
        "a text that is no time in RFC 3339 is refused",
        arguments: [
            "2026-03-29T01:00:00", "2026-03-29T01:00:00+1:00", "2026-03-29T01:00:00+0100", "2026-03-29T01:00:00+24:00",
            "2026-03-29T01:00:00+01:60", "2026-02-30T01:00:00+01:00", "2026-03-29T01:00:00Z+01:00", "2026-03-29+01:00",
            "2026-03-29T01:00:00 01:00", "+01:00", "",
        ])
    func refused(text: String) { #expect(Timestamp.seconds(text) == nil) }

    @Test("with --system the user's variables choose no file of time zones")
    func system() async throws {
        let ran = try await bash(
            """
            opened() { strace -f -o trace -e trace=openat "$@" > /dev/null 2>&1; grep -c "$HOME/zone" trace; }
            export TZ=:$HOME/zone
            opened omvault login status --format table
            opened omvault login status --system --format table
            """)
        #expect(ran.output == "1\n0\n", "\(ran)")
    }
}
