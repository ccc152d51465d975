// Private keys made from their numbers. The numbers are checked against each other before anything is computed with them.

internal import COpenSSL
public import OMSecrets

extension PrivateKey {
    /// The eight numbers of `RSAPrivateKey`, big-endian, in its order: n, e, d, p, q, d mod p − 1, d mod q − 1, q⁻¹ mod p.
    struct RSANumbers: ~Copyable {
        static let names: [StaticString] = [
            "n", "e", "d", "rsa-factor1", "rsa-factor2", "rsa-exponent1", "rsa-exponent2", "rsa-coefficient1",
        ]

        let values: SecretBytes
        let ranges: [Range<Int>]

        /// - Parameter ranges: The range of each number in `values`.
        init(_ values: consuming SecretBytes, _ ranges: [Range<Int>]) {
            precondition(ranges.count == Self.names.count, "an RSA key has eight numbers")
            self.values = values
            self.ranges = ranges
        }

        func big(_ index: Int) -> BigNumber { values.withBytes { BigNumber($0.extracting(ranges[index])) } }
    }

    /// An RSA key from its eight numbers, big-endian: n, e, d, p, q, d mod p − 1, d mod q − 1, q⁻¹ mod p.
    ///
    /// - Throws: ``CryptoError/invalidKey`` unless all eight belong together.
    package init(rsaNumbers numbers: [[UInt8]]) throws(CryptoError) {
        guard numbers.count == RSANumbers.names.count else { throw .invalidKey }
        var ranges: [Range<Int>] = []
        for number in numbers {
            let start = ranges.last?.upperBound ?? 0
            ranges.append(start..<start + number.count)
        }
        try self.init(rsa: RSANumbers(SecretBytes(copying: numbers.flatMap { $0 }), ranges))
    }

    /// - Throws: ``CryptoError/invalidKey`` unless all eight belong together.
    init(rsa numbers: borrowing RSANumbers) throws(CryptoError) {
        let bits = try numbers.values.withBytes { (values) throws(CryptoError) in
            let (modulus, exponent) = (values.extracting(numbers.ranges[0]), values.extracting(numbers.ranges[1]))
            return try RSARules.check(
                modulus: modulus.extracting(modulus.significant), exponent: exponent.extracting(exponent.significant))
        }
        // Checked before any arithmetic: numbers longer than the modulus only cost time.
        let longest = (bits + 7) / 8 + 1
        guard numbers.ranges.allSatisfy({ $0.count <= longest }), numbers.isConsistent else { throw .invalidKey }
        var parameters = KeyParameters()
        numbers.values.withBytes { values in
            for (name, range) in zip(RSANumbers.names, numbers.ranges) {
                parameters.add(name, number: values.extracting(range))
            }
        }
        self.init(kind: .rsa(bits: bits), handle: try parameters.makeKey("RSA", isPrivate: true))
    }

    /// The eight numbers of an RSA key, each without leading zeros.
    func rsaNumbers() throws(CryptoError) -> RSANumbers {
        guard case .rsa(let bits) = kind else { throw .wrongKeyType }
        let count = (bits + 7) / 8
        var values = SecretBuffer(capacity: 8 * count)
        var ranges: [Range<Int>] = []
        for name in RSANumbers.names {
            let number = try handle.number(name, count: count)
            let start = values.count
            number.withBytes { values.append($0.extracting($0.significant)) }
            ranges.append(start..<values.count)
        }
        return RSANumbers(values.finish(), ranges)
    }

    /// - Parameters:
    ///   - scalar: As long as a coordinate.
    ///   - point: The public half, if the file holds it. It is checked against the private half.
    /// - Throws: ``CryptoError/invalidKey``.
    init(_ curve: EllipticCurve, scalar: Span<UInt8>, point: [UInt8]?) throws(CryptoError) {
        guard scalar.count == curve.count else { throw .invalidKey }
        let computed = try curve.publicPoint(of: scalar)
        if let point {
            let given = try PublicKey(curve, point: point).point()
            guard given == computed else { throw .invalidKey }
        }
        var parameters = KeyParameters()
        parameters.add("group", text: curve.opensslName)
        parameters.add("priv", number: scalar)
        parameters.add("pub", octets: computed.span)
        self.init(kind: .ec(curve), handle: try parameters.makeKey("EC", isPrivate: true))
    }

    /// - Parameter publicBytes: The public half, if the file holds it. It is checked against the private half.
    init(_ kind: KeyKind, raw bytes: Span<UInt8>, publicBytes: [UInt8]? = nil) throws(CryptoError) {
        guard bytes.count == 32, kind == .ed25519 || kind == .x25519 else { throw .invalidKey }
        let algorithm = kind == .ed25519 ? "ED25519" : "X25519"
        let handle = try KeyHandle(
            owning: unsafe bytes.withPointer { EVP_PKEY_new_raw_private_key_ex(nil, algorithm, nil, $0, $1) })
        if let publicBytes {
            let mine = try handle.raw(isPrivate: false)
            guard mine.withBytes({ ConstantTime.areEqual($0, publicBytes.span) }) else { throw .invalidKey }
        }
        self.init(kind: kind, handle: handle)
    }

    /// Ed25519 from its seed, RFC 8032 section 5.1.5.
    ///
    /// - Parameter seed: 32 bytes.
    /// - Throws: ``CryptoError/invalidKey``.
    public init(ed25519 seed: borrowing SecretBytes) throws(CryptoError) {
        self = try seed.withBytes { (bytes) throws(CryptoError) in try PrivateKey(.ed25519, raw: bytes) }
    }

    /// X25519 from its 32 bytes, RFC 7748 section 5.
    ///
    /// - Throws: ``CryptoError/invalidKey``.
    public init(x25519 scalar: borrowing SecretBytes) throws(CryptoError) {
        self = try scalar.withBytes { (bytes) throws(CryptoError) in try PrivateKey(.x25519, raw: bytes) }
    }

    /// A curve's key from its private number.
    ///
    /// - Parameter scalar: big-endian, as long as a coordinate of the curve.
    /// - Throws: ``CryptoError/invalidKey``.
    public init(_ curve: EllipticCurve, scalar: borrowing SecretBytes) throws(CryptoError) {
        self = try scalar.withBytes { (bytes) throws(CryptoError) in
            try PrivateKey(curve, scalar: bytes, point: nil)
        }
    }
}

extension PrivateKey.RSANumbers {
    /// Whether n = pq, each exponent inverts e modulo its prime minus one, and q⁻¹ is right.
    ///
    /// Attack: a key has a wrong CRT half, so its first signature gives away its factors.
    ///
    /// This does not check that p and q are prime. With huge numbers that would take minutes, and the writer of the file
    /// knows the factors anyway.
    fileprivate var isConsistent: Bool {
        let scratch = BigNumberScratch()
        let n = big(0)
        let e = big(1)
        let d = big(2)
        let p = big(3)
        let q = big(4)
        let inverse = big(7)
        let product = BigNumber()
        guard BN_is_odd(p.pointer) == 1, BN_is_odd(q.pointer) == 1, BN_is_one(p.pointer) == 0,
            BN_is_one(q.pointer) == 0,
            BN_mul(product.pointer, p.pointer, q.pointer, scratch.pointer) == 1,
            BN_cmp(product.pointer, n.pointer) == 0,
            BN_cmp(d.pointer, n.pointer) < 0, BN_cmp(inverse.pointer, p.pointer) < 0
        else { return false }
        guard inverts(d, e, part: big(5), prime: p, scratch), inverts(d, e, part: big(6), prime: q, scratch) else { return false }
        return BN_mod_mul(product.pointer, inverse.pointer, q.pointer, p.pointer, scratch.pointer) == 1
            && BN_is_one(product.pointer) == 1
    }

    /// Whether `part` is d modulo the prime minus one, and inverts e modulo the same number.
    private func inverts(
        _ d: borrowing BigNumber, _ e: borrowing BigNumber, part: borrowing BigNumber, prime: borrowing BigNumber,
        _ scratch: borrowing BigNumberScratch
    ) -> Bool {
        let less = BigNumber()
        let result = BigNumber()
        guard BN_copy(less.pointer, prime.pointer) != nil, BN_sub_word(less.pointer, 1) == 1,
            BN_cmp(part.pointer, less.pointer) < 0,
            BN_nnmod(result.pointer, d.pointer, less.pointer, scratch.pointer) == 1,
            BN_cmp(result.pointer, part.pointer) == 0,
            BN_mod_mul(result.pointer, part.pointer, e.pointer, less.pointer, scratch.pointer) == 1
        else { return false }
        return BN_is_one(result.pointer) == 1
    }
}

extension EllipticCurve {
    /// The number with zeros in front, as long as the field. It may not be longer.
    func padded(_ number: Span<UInt8>) -> SecretBytes {
        SecretBytes(count: count) { target in
            for index in number.indices { target[count - number.count + index] = number[index] }
        }
    }

    /// `04 ‖ x ‖ y` of the private number times the base point.
    fileprivate func publicPoint(of scalar: Span<UInt8>) throws(CryptoError) -> [UInt8] {
        guard let group = EC_GROUP_new_by_curve_name(opensslNumber), let point = EC_POINT_new(group) else {
            throw .clearing(.invalidKey)
        }
        defer {
            EC_POINT_free(point)
            EC_GROUP_free(group)
        }
        let number = BigNumber(scalar)
        let scratch = BigNumberScratch()
        guard BN_is_zero(number.pointer) == 0, BN_cmp(number.pointer, EC_GROUP_get0_order(group)) < 0,
            EC_POINT_mul(group, point, number.pointer, nil, nil, scratch.pointer) == 1
        else { throw .clearing(.invalidKey) }
        var bytes = [UInt8](repeating: 0, count: 1 + 2 * count)
        let form = POINT_CONVERSION_UNCOMPRESSED
        guard EC_POINT_point2oct(group, point, form, &bytes, bytes.count, scratch.pointer) == bytes.count else {
            throw .clearing(.invalidKey)
        }
        return bytes
    }
}
