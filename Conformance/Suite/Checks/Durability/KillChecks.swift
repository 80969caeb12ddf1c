extension Check {
    /// Death of the process.
    static let durabilityKills: [Check] = durabilityKilledWriters + durabilityKilledChanges
}
