extension Check {
    /// Death of the process, loss of power, failing and damaged files.
    static let durability: [Check] = durabilityCopies + durabilityFaults + durabilityKills + durabilityDamage
}
