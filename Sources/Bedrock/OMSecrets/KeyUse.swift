/// What a key may be used for.
public protocol KeyUse {}

/// A use from which further keys are derived.
public protocol DerivingUse: KeyUse {}

/// Seals and opens records and states with ``AEAD``.
public enum Sealing: KeyUse {}
/// Wraps other keys.
public enum Wrapping: KeyUse {}
/// Made by a verified login or a stretched password; opens a vault's slot.
public enum Unlocking: DerivingUse {}
/// Derived from the class key of a level, or from the device key; keeps a remembered password.
public enum Remembering: DerivingUse {}
/// A root, class or device key: only a source of other keys.
public enum Deriving: DerivingUse {}
/// Computes a ``MAC``.
public enum Authenticating: KeyUse {}
/// Computes a ``KeyedHash``.
public enum Hashing: KeyUse {}
