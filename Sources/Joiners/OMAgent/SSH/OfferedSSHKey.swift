// Keys of SSH and requests for their signatures as bytes. Format: docs/formats/agent-protocol.md, "SSH".

internal import OMAgentProtocol
package import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMVault

/// A public key that the agent offers to SSH programs.
package struct OfferedSSHKey: Hashable, Sendable {
    package let item: ItemName
    /// Whether the item asks for a confirmation of each use.
    package let asks: Bool
    /// The key in SSH's form.
    package let publicKey: [UInt8]

    package init(_ item: ItemName, asks: Bool, publicKey: [UInt8]) {
        (self.item, self.asks, self.publicKey) = (item, asks, publicKey)
    }
}

/// item ‖ flag ‖ key
extension OfferedSSHKey: WireValue {
    func write(to body: inout SecretBuffer) { body.write(item, asks, SSHBytes(publicKey)) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(try wire.read(), asks: try wire.read(), publicKey: try wire.read(SSHBytes.self).bytes)
        guard publicKey.count <= SSHSigning.longestKey else { throw MalformedBytes() }
    }
}

/// A request for a signature of SSH.
struct SSHSigning: Hashable, Sendable {
    /// A key of the longest RSA modulus has about 2 KiB.
    static let longestKey = 4 << 10
    /// The longest message of an ssh-agent.
    static let longestData = 256 << 10

    let item: ItemName
    let publicKey: [UInt8]
    let data: [UInt8]
    let flags: UInt32
}

/// item ‖ key ‖ data ‖ flags (4)
extension SSHSigning: WireValue {
    func write(to body: inout SecretBuffer) { body.write(item, SSHBytes(publicKey), SSHBytes(data), flags) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let item: ItemName = try wire.read()
        let (key, data) = (try wire.read(SSHBytes.self).bytes, try wire.read(SSHBytes.self).bytes)
        guard key.count <= Self.longestKey else { throw MalformedBytes() }
        self.init(item: item, publicKey: key, data: data, flags: try wire.read())
    }
}

/// length (4) ‖ bytes
private struct SSHBytes: WireValue {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func write(to body: inout SecretBuffer) {
        body.write(UInt32(bytes.count))
        body.append(bytes.span)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let count = Int(try wire.read(UInt32.self))
        guard (1...SSHSigning.longestData).contains(count) else { throw MalformedBytes() }
        bytes = try wire.bytes(count)
    }
}
