extension BrokenStore {
    /// Flaws of stores whose files several stores can open at once.
    static let sharing: [BrokenStore] = [
        BrokenStore(
            .longCommitsAreExternal, breaks: "The store's own commits are not external, however many rows they have",
            foundBy: ["OBS-016"], saying: "own commit"),
        BrokenStore(
            .foreignDeletionsUnseen, breaks: "The deletions of other stores are noticed",
            foundBy: ["LIF-112", "LIF-113"], saying: "external commit number"),
        BrokenStore(
            .countsKept, breaks: "A count covers the commits of other stores",
            foundBy: ["LIF-110", "LIF-112", "LIF-113"], saying: "count"),
        BrokenStore(
            .readOnlyFrozen, breaks: "A store opened for reading only sees later commits",
            foundBy: ["LIF-087"], saying: "reading only"),
        BrokenStore(
            .signalPathDiffers, breaks: "All stores over the same files have the same signal path",
            foundBy: ["OBS-017"], saying: "path"),
        BrokenStore(
            .signalFileKept, breaks: "Destroying a store removes all of its files",
            foundBy: ["OBS-019"], saying: "remain"),
        BrokenStore(
            .redefinitionInTwoWrites, breaks: "Nothing is committed between the body of a redefinition and its end",
            foundBy: ["TAB-207"], saying: "redefinition"),
        BrokenStore(
            .externalNumberAfterClose, breaks: "After close, the external commit number is closed",
            foundBy: ["OBS-018"], saying: "closed"),
    ]
}
