/// What a key may be used for.
public protocol KeyUse {}

/// A use from which further keys are derived.
public protocol DerivingUse: KeyUse {}
