extension Check {
    /// Failing file calls, full disks, and power loss.
    static let durabilityFaults: [Check] =
        durabilityPower + durabilityCrashes + durabilityErrors + durabilityOpening + durabilityFull
        + durabilityReadOnly
}
