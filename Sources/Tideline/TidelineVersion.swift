/// The version of this package.
public enum TidelineVersion {
    /// The version, as in `1.2.0`; with `-dev` behind it before the version is released.
    public static let current = "0.1.0-dev"
}
