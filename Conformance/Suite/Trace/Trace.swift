internal import Synchronization

/// Records a check's operations for a failure to be printed as Swift. Text is only generated on demand.
final class Trace: Sendable {
    /// The maximum number of entries; later ones are omitted.
    static let maximumEntries = 1_000

    private struct State {
        var entries: [Entry] = []
        var stores = 0
        var isCut = false
        var redefinesNext: Bool
    }
    private let state: Mutex<State>

    /// - Parameter redefinesFirst: Whether the first definition is made by `redefine`.
    init(redefinesFirst: Bool = false) { state = Mutex(State(redefinesNext: redefinesFirst)) }

    /// One call of a store: the lines that make it and the calls within its body.
    final class Entry: Sendable {
        let text: @Sendable () -> String
        let body = Mutex<[Entry]?>(nil)
        let error = Mutex<String?>(nil)
        /// Whether the result of the call must be explicitly ignored.
        let isExpression: Bool

        init(isExpression: Bool, _ text: @escaping @Sendable () -> String) {
            self.isExpression = isExpression
            self.text = text
        }

        /// Records how the call ended.
        func end(_ error: (any Error)?) { self.error.withLock { $0 = error.map { "\($0)" } } }
    }

    /// Adds a call.
    func add(_ entry: Entry) {
        state.withLock { state in
            if state.entries.count < Trace.maximumEntries { state.entries.append(entry) } else { state.isCut = true }
        }
    }

    /// Adds a call within the body of another.
    func add(_ entry: Entry, within outer: Entry) {
        let isFull = outer.body.withLock { body in
            guard let count = body?.count else { return true }
            if count < Trace.maximumEntries { body?.append(entry) }
            return count >= Trace.maximumEntries
        }
        if isFull { state.withLock { $0.isCut = true } }
    }

    /// Returns a name for the next store.
    func nextStore() -> String {
        state.withLock { state in
            state.stores += 1
            return "store\(state.stores)"
        }
    }

    /// Returns whether the next definition is made by `redefine`, which every second one is.
    func redefinesNext() -> Bool {
        state.withLock { state in
            state.redefinesNext.toggle()
            return !state.redefinesNext
        }
    }

    /// Returns the calls so far as a Swift function whose parameter opens a store.
    func script(named name: String, comment: String) -> String {
        let (entries, isCut) = state.withLock { ($0.entries, $0.isCut) }
        var lines = ["import TidelineStore", "", "// \(comment)"]
        if isCut { lines.append("// Only the first calls are shown.") }
        lines.append("func \(name)(_ open: (_ directory: String) throws -> any LocalStore) throws {")
        for entry in entries { Trace.append(entry, to: &lines, indent: "    ") }
        lines.append("}")
        return lines.joined(separator: "\n")
    }

    private static func append(_ entry: Entry, to lines: inout [String], indent: String) {
        let error = entry.error.withLock { $0 }
        let body = entry.body.withLock { $0 }
        let text = entry.text()
        if let error {
            lines.append("\(indent)// throws \(error.split(whereSeparator: \.isNewline).joined(separator: " "))")
        }
        let call = error == nil ? "try " : "try? "
        let isStatement = ["let ", "return ", "// "].contains(where: text.hasPrefix)
        let start = entry.isExpression ? "_ = \(call)" : isStatement ? "" : call
        lines.append(indent + start + text)
        guard let body else { return }
        for inner in body { append(inner, to: &lines, indent: indent + "    ") }
        if error != nil { lines.append("\(indent)    throw StoreError(.io, \"the body throws\")") }
        lines.append("\(indent)}")
    }
}
