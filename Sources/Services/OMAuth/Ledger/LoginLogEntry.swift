// An entry of the log of logins, as bytes that only a holder of the device key can write.
// Format: docs/formats/login-format.md, "The log".

internal import OMRecords
internal import OMSecrets
internal import OMStorage

/// An entry of the log of logins.
package struct LoginLogEntry: Hashable, Sendable {
    /// 1 for the first entry. Each later entry has 1 more.
    package let sequence: UInt64
    /// Seconds since 1970: the login's time, or the clock's time if there is no login. If several events count as this
    /// entry, the time of the last.
    package let time: Int64
    /// The id of a login that this ledger knows, or that has a session. Nil if there is none.
    package let login: [UInt8]?
    package let event: LoginEvent
    /// How many equal events count as this entry.
    package let count: UInt32
    /// The time of the first of them.
    package let first: Int64
    /// The MAC of the entry that this one replaced: 32 bytes, zeros if it replaced none.
    let replaced: [UInt8]
    /// The MAC of the entry before: 32 bytes, zeros for the first entry.
    package let previous: [UInt8]
    /// 32 bytes.
    package private(set) var mac: [UInt8]

    /// sequence (8) ‖ time (8) ‖ login (16) ‖ kind (1) ‖ detail (8) ‖ count (4) ‖ first (8) ‖ replaced, previous, MAC (32 each)
    static let count = 53 + 3 * MAC.count
    /// An entry of ``LoginEvent/tokenGiven(_:)`` has texts behind `first`.
    static let maximumCount = count + TokenHandout.maximumCount

    private static let noLogin = [UInt8](repeating: 0, count: LoginID.count)
    private static let noMAC = [UInt8](repeating: 0, count: MAC.count)

    /// An entry after `last`.
    ///
    /// - Parameter times: How many equal events it counts from the start: 1, if the event is of no counted kind.
    init(
        after last: HighWaterMark, time: Int64, _ id: LoginID?, _ event: LoginEvent, times: UInt32 = 1,
        _ key: borrowing Key<Authenticating>
    ) {
        (sequence, previous) = (last.generation + 1, last.digest)
        self.time = min(max(time, LastSeenTime.range.lowerBound), LastSeenTime.range.upperBound)
        (login, self.event) = (id?.bytes, event)
        (count, first, replaced) = (event.isCounted ? max(times, 1) : 1, self.time, Self.noMAC)
        mac = []
        mac = MAC.tag(of: body, using: key, context: Context(.loginLogMAC))
    }

    /// An entry that replaces `old`, after the new `last`.
    ///
    /// - Parameter next: An equal event to count in it. If nil, only its place in the chain changes.
    init(
        inPlaceOf old: LoginLogEntry, after last: HighWaterMark, countingUp next: LoginLogEntry?,
        _ key: borrowing Key<Authenticating>
    ) {
        (sequence, previous) = (old.sequence, last.digest)
        (login, event, first, replaced) = (old.login, next?.event ?? old.event, old.first, old.mac)
        (time, count) = next.map { ($0.time, old.count + min($0.count, .max - old.count)) } ?? (old.time, old.count)
        mac = []
        mac = MAC.tag(of: body, using: key, context: Context(.loginLogMAC))
    }

    /// - Throws: ``MalformedBytes`` if the bytes are no entry, or were not written under `key`.
    init(_ bytes: [UInt8], _ key: borrowing Key<Authenticating>) throws(MalformedBytes) {
        let span = bytes.span
        var cursor = ByteCursor()
        sequence = try cursor.number(1...UInt64(Int64.max) - 1, in: span)
        time = try cursor.time(in: span)
        let login = try cursor.take(LoginID.count, in: span)
        self.login = login == Self.noLogin ? nil : login
        let kind = try cursor.byte(in: span)
        let detail: UInt64 = try cursor.number(in: span)
        count = try cursor.number(1...UInt32.max, in: span)
        first = try cursor.time(in: span)
        event =
            kind == LoginEvent.tokenKind
            ? .tokenGiven(try TokenHandout(detail: detail, &cursor, in: span)) : try LoginEvent(kind, detail)
        replaced = try cursor.take(MAC.count, in: span)
        previous = try cursor.take(MAC.count, in: span)
        mac = try cursor.take(MAC.count, in: span)
        try cursor.end(in: span)
        // Each meaning has one encoding.
        guard event.isCounted || count == 1 && replaced == Self.noMAC, count > 1 || first == time else {
            throw MalformedBytes()
        }
        do throws(SecretsError) {
            try MAC.check(
                mac, of: Array(bytes.dropLast(MAC.count)), using: key, context: Context(.loginLogMAC))
        } catch { throw MalformedBytes() }
    }

    /// Whether `next` is an equal event that can count in this entry.
    func counts(_ next: LoginLogEntry) -> Bool {
        event.counts(next.event) && login == next.login && count < UInt32.max
    }

    /// The bytes of the row. The MAC can be computed from them again.
    package var encoded: [UInt8] { body + mac }

    private var body: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: sequence)
        bytes.append(number: time)
        bytes += login ?? Self.noLogin
        let (kind, detail) = event.code
        bytes.append(kind)
        bytes.append(number: detail)
        bytes.append(number: count)
        bytes.append(number: first)
        if case .tokenGiven(let handout) = event { handout.appendTexts(to: &bytes) }
        return bytes + replaced + previous
    }
}

extension LoginLogEntry: ChainedEntry {
    package var replacedMAC: [UInt8]? { replaced == Self.noMAC ? nil : replaced }
}
