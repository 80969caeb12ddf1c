extension Check {
    /// Damaged files.
    static let durabilityDamage: [Check] = []
}
