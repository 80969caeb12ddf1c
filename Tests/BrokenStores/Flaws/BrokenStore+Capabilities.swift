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
        BrokenStore(
            .externalNumberWithoutSharing, breaks: "A store whose files are not shared has no external commit number",
            foundBy: ["OBS-012"], saying: "external commit number"),
        BrokenStore(
            .ownCommitsAreExternal, breaks: "The store's own commits are not external",
            foundBy: ["OBS-013"], saying: "own commit"),
        BrokenStore(
            .externalCommitsUnseen, breaks: "The commits of other stores over the same files are noticed",
            foundBy: ["OBS-014", "OBS-015"], saying: "other"),
    ]
}
