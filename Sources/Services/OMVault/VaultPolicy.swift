// The rules of a vault's owner for the whole vault. They are in the header, under the root key's seal.
// Format: docs/formats/vault-format.md, "Policy".

public import OMItems
public import OMRecords
public import OMSecrets

/// The rules of one vault.
public struct VaultPolicy: Hashable, Sendable {
    package static let maximumHistory: UInt16 = 1000

    /// The level of items that are added without one.
    public var defaultLevel: ProtectionLevel
    /// Whether the agent may keep the keys of the after-first-unlock levels over its own restart. Any process of the
    /// user can then read those items until the next boot.
    public var keepsTicket: Bool
    /// How many older versions of an item are kept: 0 to 1000.
    public private(set) var history: UInt16
    /// How the passwords and recovery codes of new slots are stretched. An older slot below it is raised at its next use.
    public private(set) var stretch: Argon2id.Parameters

    public init(
        defaultLevel: ProtectionLevel, keepsTicket: Bool = false, stretch: Argon2id.Parameters = .standard
    ) {
        (self.defaultLevel, self.keepsTicket) = (defaultLevel, keepsTicket)
        history = 10
        self.stretch = stretch
    }

    /// - Throws: ``VaultError/policyOutOfBounds``.
    public mutating func keepVersions(_ count: Int) throws(VaultError) {
        guard let count = UInt16(exactly: count), count <= Self.maximumHistory else { throw .policyOutOfBounds }
        history = count
    }

    /// - Throws: ``VaultError/policyOutOfBounds``.
    public mutating func stretch(memoryKiB: UInt32, passes: UInt32) throws(VaultError) {
        do throws(SecretsError) { stretch = try Argon2id.Parameters(memoryKiB: memoryKiB, passes: passes) } catch {
            throw .policyOutOfBounds
        }
    }

    /// The stretch that a slot with `parameters` needs under this policy.
    ///
    /// - Returns: nil if `parameters` are good enough.
    func raised(_ parameters: Argon2id.Parameters) -> Argon2id.Parameters? {
        guard parameters.memoryKiB < stretch.memoryKiB || parameters.passes < stretch.passes else { return nil }
        // The larger value of each pair. It is within the bounds, because both are.
        return try? Argon2id.Parameters(
            memoryKiB: max(parameters.memoryKiB, stretch.memoryKiB), passes: max(parameters.passes, stretch.passes))
    }

    /// Whether a slot is stretched as strongly as new ones. True for a slot that is not stretched.
    package func isMet(by slot: KeySlot) -> Bool { slot.stretch.map { raised($0) == nil } ?? true }

    // MARK: - Bytes

    static let count = 12

    /// default level ‖ flags ‖ history (2) ‖ memory in KiB (4) ‖ passes (4)
    var encoded: [UInt8] {
        var bytes = [defaultLevel.code, keepsTicket ? 1 : 0]
        bytes.append(number: history)
        bytes.append(number: stretch.memoryKiB)
        bytes.append(number: stretch.passes)
        return bytes
    }

    init(decoding cursor: inout ByteCursor, in span: Span<UInt8>) throws(MalformedBytes) {
        guard let level = ProtectionLevel(code: try cursor.number(in: span)) else { throw MalformedBytes() }
        let flags: UInt8 = try cursor.number(in: span)
        history = try cursor.number(in: span)
        guard flags <= 1, history <= Self.maximumHistory else { throw MalformedBytes() }
        (defaultLevel, keepsTicket) = (level, flags == 1)
        let memory: UInt32 = try cursor.number(in: span)
        let passes: UInt32 = try cursor.number(in: span)
        do throws(SecretsError) { stretch = try Argon2id.Parameters(memoryKiB: memory, passes: passes) } catch {
            throw MalformedBytes()
        }
    }
}
