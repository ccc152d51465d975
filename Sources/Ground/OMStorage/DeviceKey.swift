package import OMSecrets

/// The device's key. Other keys are derived from it, and it is mixed into slots.
package struct DeviceKey: ~Copyable, Sendable {
    package let key: Key<Deriving>

    package init(_ key: consuming Key<Deriving>) { self.key = key }

    /// 32 public bytes that identify this device key.
    package borrowing func fingerprint() -> [UInt8] { key.fingerprint(Context(.deviceID)) }

    package borrowing func duplicate() -> DeviceKey { DeviceKey(key.duplicate()) }
}
