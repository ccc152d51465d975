// A report of an exchange as bytes, for another process. Format: docs/formats/agent-protocol.md, "Sync".

internal import OMParcels
package import OMRecords

extension SyncReport {
    /// In the order of their codes.
    private static let decisions: [KnownHeads.Decision] = [
        .isNew, .isKnown, .waits, .isRefused, .isRolledBack, .isForked, .isDisputed, .isClone,
    ]

    private static func flags(of report: SyncReport) -> [Bool] {
        let (pull, push) = (report.pull, report.push)
        return [pull.isStopped, pull.isRemoved, pull.needsLaterVersion, pull.losesCode, push.hasMore]
    }

    private static func counts(of report: SyncReport) -> [Int] {
        let (pull, push) = (report.pull, report.push)
        return [
            pull.written, pull.braked, pull.waiting, pull.held, pull.unreadable, pull.malformed, push.parcels, push.skipped,
        ]
    }

    package var encoded: [UInt8] {
        var bytes = [Self.flags(of: self).enumerated().reduce(UInt8(0)) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) }]
        for count in Self.counts(of: self) { bytes.append(number: UInt32(clamping: count)) }
        bytes.append(number: UInt64(clamping: push.bytes))
        bytes.append(number: UInt16(clamping: pull.notAccepted.count))
        for (device, decision) in pull.notAccepted.sorted(by: { $0.key < $1.key }) {
            bytes.append(number: device)
            bytes.append(UInt8(Self.decisions.firstIndex(of: decision) ?? 0))
        }
        bytes.append(number: UInt16(clamping: pull.lostEntries.count))
        for number in pull.lostEntries { bytes.append(number: number) }
        bytes.append(UInt8(clamping: pull.forgers.count))
        for (remote, devices) in pull.forgers.sorted(by: { $0.key < $1.key }) {
            bytes.append(remote)
            bytes.append(number: UInt16(clamping: devices.count))
            for device in devices.sorted() { bytes.append(number: device) }
        }
        bytes.append(number: UInt16(clamping: pull.unreadPacks.count))
        for (device, count) in pull.unreadPacks.sorted(by: { $0.key < $1.key }) {
            bytes.append(number: device)
            bytes.append(number: UInt32(clamping: count))
        }
        return bytes
    }

    package init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        let span = bytes.span
        var cursor = ByteCursor()
        let flags: UInt8 = try cursor.number(in: span)
        guard flags >> 5 == 0 else { throw MalformedBytes() }
        (pull.isStopped, pull.isRemoved) = (flags & 1 != 0, flags & 2 != 0)
        (pull.needsLaterVersion, pull.losesCode) = (flags & 4 != 0, flags & 8 != 0)
        push.hasMore = flags & 16 != 0
        pull.written = Int(try cursor.number(UInt32.self, in: span))
        pull.braked = Int(try cursor.number(UInt32.self, in: span))
        pull.waiting = Int(try cursor.number(UInt32.self, in: span))
        pull.held = Int(try cursor.number(UInt32.self, in: span))
        pull.unreadable = Int(try cursor.number(UInt32.self, in: span))
        pull.malformed = Int(try cursor.number(UInt32.self, in: span))
        push.parcels = Int(try cursor.number(UInt32.self, in: span))
        push.skipped = Int(try cursor.number(UInt32.self, in: span))
        push.bytes = Int(clamping: try cursor.number(UInt64.self, in: span))
        for _ in 0..<(try cursor.number(UInt16.self, in: span)) {
            let device: UInt32 = try cursor.number(in: span)
            let code = Int(try cursor.number(UInt8.self, in: span))
            guard Self.decisions.indices.contains(code) else { throw MalformedBytes() }
            pull.notAccepted[device] = Self.decisions[code]
        }
        for _ in 0..<(try cursor.number(UInt16.self, in: span)) { pull.lostEntries.append(try cursor.number(in: span)) }
        for _ in 0..<(try cursor.number(UInt8.self, in: span)) {
            let remote: UInt8 = try cursor.number(in: span)
            for _ in 0..<(try cursor.number(UInt16.self, in: span)) {
                pull.forgers[remote, default: []].insert(try cursor.number(in: span))
            }
        }
        for _ in 0..<(try cursor.number(UInt16.self, in: span)) {
            let device: UInt32 = try cursor.number(in: span)
            pull.unreadPacks[device] = Int(try cursor.number(UInt32.self, in: span))
        }
        try cursor.end(in: span)
    }
}
