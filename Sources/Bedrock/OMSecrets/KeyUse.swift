/// The use that a key is limited to.
public protocol KeyUse {}

/// A use that allows deriving further keys.
public protocol DerivingUse: KeyUse {}

/// Seals and opens records and states with ``AEAD``.
public enum Sealing: KeyUse {}
/// Wraps other keys.
public enum Wrapping: KeyUse {}
/// Comes from a verified login or a stretched password, and opens a vault's slot.
public enum Unlocking: DerivingUse {}
/// Comes from a level's class key or from the device key, and protects a remembered password.
public enum Remembering: DerivingUse {}
/// A root, class or device key. It is only a source of other keys.
public enum Deriving: DerivingUse {}
/// Computes a ``MAC``.
public enum Authenticating: KeyUse {}
/// Computes a ``KeyedHash``.
public enum Hashing: KeyUse {}
/// Signs a device's statements with ``EdwardsSignature``: the seed of an Ed25519 key.
public enum Signing: KeyUse {}
/// Agrees on a shared secret: a private key of X25519.
public enum Agreeing: KeyUse {}
