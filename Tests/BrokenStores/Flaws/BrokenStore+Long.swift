extension BrokenStore {
    /// Flaws that show only after long times or very many operations.
    static let long: [BrokenStore] = [
        BrokenStore(
            .waitingWriterGivesUp, breaks: "Writers wait for each other, however long it takes",
            foundBy: ["LNG-020"], saying: "busy", rows: 50_000),
        BrokenStore(
            .closeGivesUp, breaks: "close waits for the work in flight, however long it takes",
            foundBy: ["LNG-021"], saying: "long read", rows: 50_000),
        BrokenStore(
            .idleStoreCloses, breaks: "A store that was idle answers",
            foundBy: ["LIF-089"], saying: "idle"),
        BrokenStore(
            .commitsKept, breaks: "A commit takes no memory after it ends",
            foundBy: ["LNG-001"], saying: "memory", rows: 2_000),
        BrokenStore(
            .tablesLimited, breaks: "A store holds any number of tables",
            foundBy: ["LNG-002"], saying: "tables", rows: 10_000),
        BrokenStore(
            .indexChangesLimited, breaks: "An index can be changed any number of times",
            foundBy: ["LNG-008"], saying: "definitions", rows: 10_000),
        BrokenStore(
            .descriptorLeaked, breaks: "close gives back every descriptor",
            foundBy: ["LNG-007"], saying: "descriptors", rows: 2_000),
    ]
}
