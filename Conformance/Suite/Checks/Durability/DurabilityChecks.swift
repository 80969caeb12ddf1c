extension Check {
    /// Process termination, power loss, and failing or damaged files.
    static let durability: [Check] = durabilityCopies + durabilityFaults + durabilityKills + durabilityDamage
}
