/// In which order the ids of new rows come.
public enum KeyOrder: String, Sendable, Codable, CaseIterable {
    /// UUIDs of version 4: each falls anywhere among the others.
    case random
    /// Decimal numbers with leading zeros: each comes after the others.
    case sequential
    /// UUIDs of version 7: in order of time, at random within a millisecond, of which each has eight.
    case uuid7
}
