internal import Glibc
internal import OMParcels
internal import OMShell

/// The name of this device for the others.
enum DeviceNameOption {
    /// - Parameter given: That of `--device`. Nil for the name of the machine.
    static func name(_ given: String?) throws(Failure) -> DeviceName {
        if let given {
            guard let name = DeviceName(given) else {
                throw Failure(
                    .usage, "\"\(given)\" cannot be the name of a device",
                    hint: "it has 1 to \(DeviceName.maximumCount) bytes, and no control characters")
            }
            return name
        }
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0,
            let host = String(validating: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self),
            let name = DeviceName(host)
        else {
            throw Failure(.usage, "the name of this machine cannot be the name of a device", hint: "name it with --device NAME")
        }
        return name
    }
}
