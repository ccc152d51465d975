public import OMSecrets

/// The device's key, for deriving and for mixing into a slot.
public struct DeviceKey: ~Copyable, Sendable {
    public let key: Key<Deriving>

    public init(_ key: consuming Key<Deriving>) { self.key = key }

    /// 32 public bytes that tell this device key from another.
    public borrowing func fingerprint() -> [UInt8] { key.fingerprint(Context(.deviceID)) }

    public borrowing func duplicate() -> DeviceKey { DeviceKey(key.duplicate()) }
}
