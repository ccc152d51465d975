package import OMSecrets

/// The device's key, for deriving and for mixing into a slot.
package struct DeviceKey: ~Copyable, Sendable {
    package let key: Key<Deriving>

    package init(_ key: consuming Key<Deriving>) { self.key = key }

    /// 32 public bytes that tell this device key from another.
    package borrowing func fingerprint() -> [UInt8] { key.fingerprint(Context(.deviceID)) }

    package borrowing func duplicate() -> DeviceKey { DeviceKey(key.duplicate()) }
}
