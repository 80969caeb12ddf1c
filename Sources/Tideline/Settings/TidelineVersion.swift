/// The version of this package.
public enum TidelineVersion {
    /// The version, such as `1.2.0`, with the suffix `-dev` before the version is released.
    public static let current = "0.1.0-dev"
}
