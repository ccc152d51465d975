// Parts of the ledger's rows other than plain numbers and bytes. Format: docs/formats/login-format.md.

internal import OMRecords

extension ByteCursor {
    mutating func byte(in bytes: Span<UInt8>) throws(MalformedBytes) -> UInt8 { try number(in: bytes) }

    mutating func number<Number: FixedWidthInteger>(
        _ range: ClosedRange<Number>, in bytes: Span<UInt8>
    ) throws(MalformedBytes) -> Number {
        let number: Number = try number(in: bytes)
        guard range.contains(number) else { throw MalformedBytes() }
        return number
    }

    mutating func time(in bytes: Span<UInt8>) throws(MalformedBytes) -> Int64 {
        try number(LastSeenTime.range, in: bytes)
    }

    mutating func flag(in bytes: Span<UInt8>) throws(MalformedBytes) -> Bool {
        try number(UInt8(0)...1, in: bytes) == 1
    }

    /// 0 not set, 1 no, 2 yes.
    mutating func choice(in bytes: Span<UInt8>) throws(MalformedBytes) -> Bool? {
        let code = try number(UInt8(0)...2, in: bytes)
        return code == 0 ? nil : code == 2
    }

    /// A length (1 byte) and that many bytes of UTF-8, which `make` accepts as a name.
    mutating func name<Name>(
        in bytes: Span<UInt8>, _ make: (String) throws(AuthError) -> Name
    ) throws(MalformedBytes) -> Name {
        let text = try text(Int(try byte(in: bytes)), in: bytes)
        do { return try make(text) } catch { throw MalformedBytes() }
    }
}
