extension Check {
    /// Process termination.
    static let durabilityKills: [Check] = durabilityKilledWriters + durabilityKilledChanges
}
