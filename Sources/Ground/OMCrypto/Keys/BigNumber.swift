internal import COpenSSL
internal import OMSecrets

/// One `BIGNUM`. Its owner wipes and frees it.
struct BigNumber: ~Copyable {
    let pointer: OpaquePointer

    init() {
        guard let pointer = BN_new() else { fatalError("out of memory for a number") }
        self.pointer = pointer
        om_constant_time(pointer)
    }

    /// - Parameter bytes: big-endian.
    init(_ bytes: Span<UInt8>) {
        self.init()
        let read = unsafe bytes.withPointer { BN_bin2bn($0, Int32($1), pointer) }
        precondition(read != nil, "out of memory for a number")
    }

    deinit { BN_clear_free(pointer) }
}

/// The scratch numbers of a computation.
struct BigNumberScratch: ~Copyable {
    let pointer: OpaquePointer

    init() {
        guard let pointer = BN_CTX_secure_new() ?? BN_CTX_new() else { fatalError("out of memory for numbers") }
        self.pointer = pointer
    }

    deinit { BN_CTX_free(pointer) }
}
