// One entry of the audit log, as bytes that only a holder of the device key can make.
// Format: docs/formats/vault-format.md, "Audit log".

internal import OMRecords
internal import OMSecrets
internal import OMStorage

/// An entry of the audit log.
public struct AuditEntry: Hashable, Sendable {
    /// 1 for the first entry, and 1 more for each further one.
    public let sequence: UInt64
    /// The oldest entry that was kept when this one was written.
    package let oldest: UInt64
    /// Seconds since 1970, by the clock of this device.
    public let time: Int64
    public let event: AuditEvent
    /// The MAC of the previous entry: 32 bytes, zeros for the first one.
    package let previous: [UInt8]
    /// 32 bytes.
    package let mac: [UInt8]

    /// The most bytes of an event's detail.
    static let maximumDetail = 64
    static let maximumCount = 26 + maximumDetail + 2 * MAC.count

    /// An entry after `last`.
    init(
        after last: HighWaterMark, oldest: UInt64, time: Int64, _ event: AuditEvent,
        _ key: borrowing Key<Authenticating>, _ vault: [UInt8]
    ) {
        (sequence, previous) = (last.generation + 1, last.digest)
        (self.oldest, self.time, self.event) = (oldest, time, event)
        let body = Self.body(event, sequence: sequence, oldest: oldest, time: time, previous: previous)
        mac = MAC.tag(of: body, using: key, context: Self.context(vault))
    }

    /// The entry of a repetition. It replaces `old` and continues its count.
    init(
        inPlaceOf old: AuditEntry, time: Int64, _ event: AuditEvent, _ key: borrowing Key<Authenticating>, _ vault: [UInt8]
    ) {
        (sequence, oldest, previous) = (old.sequence, old.oldest, old.previous)
        (self.time, self.event) = (time, event)
        let body = Self.body(event, sequence: sequence, oldest: oldest, time: time, previous: previous)
        mac = MAC.tag(of: body, using: key, context: Self.context(vault))
    }

    /// - Throws: ``MalformedBytes`` if the bytes are no entry, or were not written under `key`.
    init(
        decoding bytes: [UInt8], _ key: borrowing Key<Authenticating>, _ vault: [UInt8]
    ) throws(MalformedBytes) {
        let span = bytes.span
        var cursor = ByteCursor()
        sequence = try cursor.number(in: span)
        oldest = try cursor.number(in: span)
        time = try cursor.number(in: span)
        let kind: UInt8 = try cursor.number(in: span)
        let count: UInt8 = try cursor.number(in: span)
        guard Int(count) <= Self.maximumDetail, (1..<UInt64(Int64.max)).contains(sequence),
            (1...sequence).contains(oldest)
        else { throw MalformedBytes() }
        event = try AuditEvent(kind: kind, detail: try cursor.take(Int(count), in: span))
        previous = try cursor.take(MAC.count, in: span)
        mac = try cursor.take(MAC.count, in: span)
        try cursor.end(in: span)
        do throws(SecretsError) {
            try MAC.check(
                mac, of: Array(bytes.dropLast(MAC.count)), using: key, context: Self.context(vault))
        } catch { throw MalformedBytes() }
    }

    /// The bytes of the entry's row. Its MAC can be computed from them again.
    package var encoded: [UInt8] {
        Self.body(event, sequence: sequence, oldest: oldest, time: time, previous: previous) + mac
    }

    /// sequence (8) ‖ oldest (8) ‖ time (8) ‖ kind ‖ length of the detail ‖ detail ‖ previous (32)
    private static func body(
        _ event: AuditEvent, sequence: UInt64, oldest: UInt64, time: Int64, previous: [UInt8]
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: sequence)
        bytes.append(number: oldest)
        bytes.append(number: time)
        let detail = event.detail
        bytes += [event.kind, UInt8(detail.count)] + detail
        return bytes + previous
    }

    private static func context(_ vault: [UInt8]) -> Context { Context(.logMAC, .bytes(vault)) }
}

extension AuditEntry: ChainedEntry {
    package var replacedMAC: [UInt8]? { event.replaced }
}
