// The keys of a vault as bytes. Format: docs/formats/agent-protocol.md, "Requests".

internal import OMAgentProtocol
internal import OMRecords
internal import OMSecrets
internal import OMVault

/// count (1) ‖ per level: code (1) ‖ key (32). The least protected level comes first, and each level comes once.
extension ClassKeys {
    func writeKeys(to body: inout SecretBuffer) {
        body.append(UInt8(levels.count))
        for level in levels {
            body.write(level)
            withKey(of: level) { key in key.withExposedBytes { body.append($0) } }
        }
    }

    mutating func readKeys(from wire: inout WireReader) throws(MalformedBytes) {
        for _ in 0..<(try wire.read(UInt8.self)) {
            let level: ProtectionLevel = try wire.read()
            let isNext = levels.last.map { Self.rank($0) < Self.rank(level) } ?? true
            guard isNext, level.availability != .always else { throw MalformedBytes() }
            add(try wire.key(), of: level)
        }
    }

    private static func rank(_ level: ProtectionLevel) -> Int { ProtectionLevel.allCases.firstIndex(of: level) ?? 0 }
}
