// The registration of a client as bytes: docs/formats/online-protocol.md, "The registration of a client".

internal import OMAgentProtocol
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets

/// 1 ‖ metadata ‖ optional address, 2 ‖ address, 3 ‖ metadata ‖ id ‖ address, or 4 ‖ address
extension ClientStep: WireValue {
    func write(to body: inout SecretBuffer) {
        switch self {
        case .register(let metadata, let address): body.write(tag: 1, metadata, address)
        case .read(let address): body.write(tag: 2, address)
        case .update(let metadata, let id, let address): body.write(tag: 3, metadata, id, address)
        case .remove(let address): body.write(tag: 4, address)
        }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 1: self = .register(try wire.read(), at: try wire.read())
        case 2: self = .read(at: try wire.read())
        case 3: self = .update(try wire.read(), id: try wire.read(), at: try wire.read())
        case 4: self = .remove(at: try wire.read())
        default: throw MalformedBytes()
        }
    }
}

/// optional name ‖ redirects ‖ grants ‖ optional proof ‖ scopes ‖ optional public key
extension ClientMetadata: WireValue {
    func write(to body: inout SecretBuffer) {
        body.write(name)
        body.write(shortList: redirects)
        body.write(shortList: grants)
        body.write(proof)
        body.write(shortList: scopes)
        body.write(publicKey)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let name: String? = try wire.read()
        let redirects: [String] = try wire.shortList(upTo: Self.mostEntries)
        let grants: [String] = try wire.shortList(upTo: Self.mostEntries)
        let proof: String? = try wire.read()
        let scopes: [String] = try wire.shortList(upTo: Self.mostEntries)
        let publicKey: String? = try wire.read()
        let texts = redirects + grants + scopes + [name, proof, publicKey].compactMap(\.self)
        guard texts.allSatisfy({ (1...Self.longest).contains($0.utf8.count) }) else { throw MalformedBytes() }
        self.init(name: name, redirects: redirects, grants: grants, proof: proof, scopes: scopes, publicKey: publicKey)
    }
}

/// id ‖ optional expiry (8) ‖ optional address ‖ metadata
extension ClientRegistration: WireValue {
    func write(to body: inout SecretBuffer) {
        body.write(id, secretExpiry.map { UInt64(clamping: $0) }, address)
        body.write(metadata)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let id: String = try wire.read(), expiry: UInt64? = try wire.read(), address: String? = try wire.read()
        guard (1...ClientMetadata.longest).contains(id.utf8.count), expiry ?? 0 <= 1 << 53,
            (1...ClientMetadata.longest).contains(address?.utf8.count ?? 1)
        else { throw MalformedBytes() }
        self.init(id: id, secretExpiry: expiry.map { Int64($0) }, address: address, metadata: try wire.read())
    }
}
