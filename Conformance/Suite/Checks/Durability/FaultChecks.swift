extension Check {
    /// Failing file calls, full disks, loss of power.
    static let durabilityFaults: [Check] =
        durabilityPower + durabilityCrashes + durabilityErrors + durabilityOpening + durabilityFull
        + durabilityReadOnly
}
