// OSSL_PARAM lists, which pass the parameters of a MAC or a key derivation to OpenSSL 3.
//
// They are built by hand. OSSL_PARAM_BLD copies every byte string, a password too, into memory that it frees without wiping.

internal import COpenSSL
internal import Glibc

/// A list of named parameters that lives for one call. It borrows byte strings and does not copy them.
struct OpenSSLParameters: ~Copyable {
    private var list: [OSSL_PARAM] = []
    private var owned: [UnsafeMutableRawPointer] = []

    mutating func add(_ name: String, _ text: String) {
        let text = own(text)
        list.append(OSSL_PARAM_construct_utf8_string(own(name), text, strlen(text)))
    }

    mutating func add(_ name: String, _ number: UInt64) {
        guard let place = malloc(MemoryLayout<UInt64>.size) else { fatalError("out of memory for parameters") }
        owned.append(place)
        let typed = place.bindMemory(to: UInt64.self, capacity: 1)
        typed.initialize(to: number)
        list.append(OSSL_PARAM_construct_uint64(own(name), typed))
    }

    /// - Parameter bytes: Must outlive the list.
    mutating func add(_ name: String, _ bytes: UnsafePointer<UInt8>, _ count: Int) {
        list.append(OSSL_PARAM_construct_octet_string(own(name), UnsafeMutableRawPointer(mutating: bytes), count))
    }

    borrowing func withPointer<R>(_ body: (UnsafePointer<OSSL_PARAM>) -> R) -> R {
        let ended = list + [OSSL_PARAM_construct_end()]
        return ended.withUnsafeBufferPointer { list in
            guard let base = list.baseAddress else { preconditionFailure("a list has at least its end") }
            return body(base)
        }
    }

    private mutating func own(_ text: String) -> UnsafeMutablePointer<CChar> {
        guard let copy = strdup(text) else { fatalError("out of memory for parameters") }
        owned.append(UnsafeMutableRawPointer(copy))
        return copy
    }

    deinit { owned.forEach { free($0) } }
}
