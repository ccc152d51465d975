// The reader of stored hashes: the iOS and the Android SDK's, LDAP's userPassword (RFC 2307 and OpenLDAP's pw-sha2), PHC
// strings, bare digests. Each is H(data ‖ salt) with the salt; they differ only in their text form.

public import OMSecrets

/// A parsed stored hash, which can be compared with data.
///
/// For slow hashes of passwords see ``PasswordHash``. ``HashChecker`` takes both kinds, and many at once.
public struct StoredHash: Hashable, Sendable {
    /// The scheme that the string names. Nil for a bare digest.
    public let scheme: HashScheme?
    public let algorithm: DigestAlgorithm
    public let digest: [UInt8]
    /// The bytes that are hashed after the data; empty in the unsalted forms.
    public let salt: [UInt8]

    /// - Parameter encoding: The form that the string must have. Nil accepts every form that names its scheme.
    /// - Throws: ``CryptoError/notPrefixed``; ``CryptoError/unknownAlgorithm`` for a name that no form knows;
    ///   ``CryptoError/malformedHash`` for base64 that is not canonical, for a digest that is too short, and if the name and
    ///   the salt contradict each other, with ``HashEncoding/sdk`` also for a salt that is not upper-case hex;
    ///   ``CryptoError/noSuchForm`` for another form than `encoding`'s, and for hex and base64, which name no scheme.
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

    /// A digest without a name, in hex or base64. The caller knows its algorithm and its salt.
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

    /// The output of the SDK's call with its switches. The caller gives the values that the output does not hold.
    ///
    /// - Parameters:
    ///   - written: The output. With base64 off, it is the raw digest, and the other switches do not count.
    ///   - encoding: ``HashEncoding/sdk`` or ``HashEncoding/sdkAndroid``. It decides which appended salts are valid.
    ///   - algorithm: The algorithm of a string without `{name}`. If the string has a name, it must be the same.
    ///   - salt: The salt of a string that holds none; empty for an unsalted hash.
    /// - Throws: ``CryptoError/noSuchForm`` for another encoding, and if neither the string nor the caller names an algorithm;
    ///   ``CryptoError/saltRequired`` and ``CryptoError/saltNotSupported`` if `{name}` and `salt` contradict each other; else
    ///   as ``init(parsing:as:)``.
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

    /// Whether this is the hash of `data`, compared in constant time.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm`` if this machine's OpenSSL is set up without the algorithm.
    public func matches(_ data: borrowing SecretBytes) throws(CryptoError) -> Bool {
        var comparison = try HashComparison(self)
        comparison.update(data)
        return comparison.finish()
    }

    /// Decodes `{name}` and the base64 of digest and salt into `body`.
    ///
    /// - Returns: The scheme, and how many bytes of `body` are used.
    static func parseBraced(
        _ text: Span<UInt8>, into body: inout [UInt8]
    ) throws(CryptoError) -> (scheme: HashScheme, count: Int) {
        guard let brace = closingBrace(text) else { throw .notPrefixed }
        let name = String(decoding: (1..<brace).map { text[$0] }, as: UTF8.self).lowercased()
        guard let scheme = HashScheme.braced[name] else { throw .unknownAlgorithm }
        let count = try decode(text.extracting((brace + 1)...), scheme.algorithm.count, scheme.isSalted, into: &body)
        return (scheme, count)
    }

    /// The index of the brace that ends a stored hash's name. Nil without a name, or if it is longer than 40 bytes.
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
