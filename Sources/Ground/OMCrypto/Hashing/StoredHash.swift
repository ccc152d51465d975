// Reads what HashString and its relatives write: the iOS and the Android SDK, LDAP's userPassword (RFC 2307 and
// OpenLDAP's pw-sha2), PHC strings, bare digests. All of them are H(data ‖ salt) and the salt; they differ in spelling.

public import OMSecrets

/// A stored hash, parsed; it says yes or no to data.
///
/// Of passwords hashed slowly see ``PasswordHash``; ``HashChecker`` takes both, and many.
public struct StoredHash: Hashable, Sendable {
    /// The scheme that the string names; of a bare digest there is none.
    public let scheme: HashScheme?
    public let algorithm: DigestAlgorithm
    public let digest: [UInt8]
    /// The bytes that follow the data into the hash; empty in the unsalted forms.
    public let salt: [UInt8]

    /// - Parameter encoding: the form that the string must have; nil takes every form that has a name in it.
    /// - Throws: ``CryptoError/notPrefixed``, ``CryptoError/unknownAlgorithm`` for a name of no known form,
    ///   ``CryptoError/malformedHash`` for base64 that is not canonical, a digest too short, a salt too many or none
    ///   where the name asks for one; with ``HashEncoding/sdk`` also for a salt that is not upper-case hex;
    ///   ``CryptoError/noSuchForm`` for another form than `encoding`'s, and for hex and base64, which name nothing.
    public init(parsing text: String, as encoding: HashEncoding? = nil) throws(CryptoError) {
        let scheme: HashScheme
        if text.utf8.first == UInt8(ascii: "$") {
            let string = try PHCString(parsing: text)
            guard let known = HashScheme.phc[string.id] else { throw .unknownAlgorithm }
            guard string.version == nil, string.parameters.isEmpty, let salt = string.salt, !salt.isEmpty,
                let digest = string.hash, digest.count == known.algorithm.count
            else { throw .malformedHash }
            (scheme, self.digest, self.salt) = (known, digest, salt)
        } else {
            var body = [UInt8](repeating: 0, count: text.utf8.count)
            let (known, count) = try Self.parseBraced(text.utf8Span.span, into: &body)
            scheme = known
            digest = Array(body.prefix(known.algorithm.count))
            salt = Array(body[known.algorithm.count..<count])
        }
        if let encoding { try encoding.check(scheme, salt) }
        (self.scheme, algorithm) = (scheme, scheme.algorithm)
    }

    /// A digest without a name, in hex or base64; what it is of, the caller knows from elsewhere.
    ///
    /// - Throws: ``CryptoError/malformedHash``, ``CryptoError/noSuchForm`` for an encoding that names its scheme.
    public init(
        bare text: String, as encoding: HashEncoding, _ algorithm: DigestAlgorithm, salt: [UInt8] = []
    ) throws(CryptoError) {
        guard !encoding.holdsSalt else { throw .noSuchForm }
        do { digest = try encoding == .hex ? Hex.decode(text) : Base64.decode(text) } catch { throw .malformedHash }
        guard digest.count == algorithm.count else { throw .malformedHash }
        (scheme, self.algorithm, self.salt) = (nil, algorithm, salt)
    }

    /// What the SDK's call writes with its switches, and the caller says what the string does not.
    ///
    /// - Parameters:
    ///   - written: With base64 off the raw digest, whatever the other switches say.
    ///   - encoding: ``HashEncoding/sdk`` or ``HashEncoding/sdkAndroid``, which tells what an appended salt may be.
    ///   - algorithm: of a string without `{name}`; beside one, it must be the same.
    ///   - salt: of a string without one; empty for an unsalted hash.
    /// - Throws: ``CryptoError/noSuchForm`` for another encoding, and for no algorithm where the string names none;
    ///   ``CryptoError/saltRequired`` and ``CryptoError/saltNotSupported`` where `{name}` and `salt` contradict each
    ///   other; else as ``init(parsing:as:)``.
    public init(
        written: [UInt8], as encoding: HashEncoding, _ switches: SDKHashOptions, algorithm given: DigestAlgorithm?,
        salt: [UInt8] = []
    ) throws(CryptoError) {
        guard encoding.form == .sdk else { throw .noSuchForm }
        var named: HashScheme?
        var body = written
        if switches.usesBase64 {
            var start = 0
            if switches.hasPrefix {
                guard let brace = Self.closingBrace(written.span) else { throw .notPrefixed }
                let name = String(decoding: written[1..<brace], as: UTF8.self).lowercased()
                guard let known = HashScheme.braced[name] else { throw .unknownAlgorithm }
                (named, start) = (known, brace + 1)
            }
            body = [UInt8](repeating: 0, count: written.count)
            var target = body.mutableSpan
            let count = StrictBase64.decode(written.span.extracting(start...), into: &target)
            guard let count else { throw .malformedHash }
            body.removeLast(body.count - count)
        }
        guard let algorithm = named?.algorithm ?? given, given == nil || given == algorithm else { throw .noSuchForm }
        let holdsSalt = switches.usesBase64 && switches.appendsSalt
        let trailer = Array(body.dropFirst(algorithm.count))
        guard body.count >= algorithm.count, holdsSalt || trailer.isEmpty else { throw .malformedHash }
        let isSalted = holdsSalt ? !trailer.isEmpty : !salt.isEmpty
        if let named, named.isSalted != isSalted {
            throw holdsSalt ? .malformedHash : isSalted ? .saltNotSupported : .saltRequired
        }
        let scheme = try HashScheme(.sdk, algorithm, isSalted: isSalted)
        if let named, named.form != .sdk { throw .noSuchForm }
        (self.scheme, self.algorithm, digest) = (scheme, algorithm, Array(body.prefix(algorithm.count)))
        self.salt = holdsSalt ? trailer : salt
        try encoding.check(scheme, self.salt)
    }

    /// Whether the hash is of `data`, compared in constant time.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm`` when this machine's OpenSSL is set up without the algorithm.
    public func matches(_ data: borrowing SecretBytes) throws(CryptoError) -> Bool {
        var comparison = try HashComparison(self)
        comparison.update(data)
        return comparison.finish()
    }

    /// `{name}` and base64 of digest and salt, decoded into `body`: the scheme, and how many bytes of `body` are used.
    static func parseBraced(
        _ text: Span<UInt8>, into body: inout [UInt8]
    ) throws(CryptoError) -> (scheme: HashScheme, count: Int) {
        guard let brace = closingBrace(text) else { throw .notPrefixed }
        let name = String(decoding: (1..<brace).map { text[$0] }, as: UTF8.self).lowercased()
        guard let scheme = HashScheme.braced[name] else { throw .unknownAlgorithm }
        let count = try decode(text.extracting((brace + 1)...), scheme.algorithm.count, scheme.isSalted, into: &body)
        return (scheme, count)
    }

    /// Where the name ends that a stored hash starts with; no name is longer than 40 bytes.
    static func closingBrace(_ text: Span<UInt8>) -> Int? {
        guard !text.isEmpty, text[0] == UInt8(ascii: "{") else { return nil }
        for index in 1..<min(text.count, 42) where text[index] == UInt8(ascii: "}") { return index }
        return nil
    }

    static func decode(
        _ text: Span<UInt8>, _ digestCount: Int, _ isSalted: Bool, into body: inout [UInt8]
    ) throws(CryptoError) -> Int {
        var target = body.mutableSpan
        guard let count = StrictBase64.decode(text, into: &target) else { throw .malformedHash }
        guard count >= digestCount, (count > digestCount) == isSalted else { throw .malformedHash }
        return count
    }
}
