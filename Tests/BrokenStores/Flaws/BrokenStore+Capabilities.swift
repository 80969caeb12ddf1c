extension BrokenStore {
    /// Wrong capabilities.
    static let capabilities: [BrokenStore] = [
        BrokenStore(
            .idLimitOverstated, breaks: "Ids of the length that is declared are stored",
            foundBy: ["VAL-039"], saying: "maximum length"),
        BrokenStore(
            .infinityDeclaredOff, breaks: "Infinities declared off are refused",
            foundBy: ["VAL-020"], saying: "infinit"),
        BrokenStore(
            .nanDeclaredOff, breaks: "NaN declared off is refused",
            foundBy: ["VAL-018"], saying: "NaN"),
        BrokenStore(
            .persistenceDeclaredOff, breaks: "A store that declares nothing persistent keeps nothing",
            foundBy: ["LIF-010"], saying: "empty"),
        BrokenStore(
            .readOnlyNotDeclared, breaks: "A store opened for reading only declares so",
            foundBy: ["LIF-082"], saying: "declares"),
    ]
}
