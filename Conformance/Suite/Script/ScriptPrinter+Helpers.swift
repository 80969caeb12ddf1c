extension ScriptPrinter {
    /// Functions that every printed script calls.
    static let helpers = [
        """
        struct RollBack: Error {}

        struct BrokenPromise: Error { var message: String }

        func expect<T: Equatable>(_ found: T, _ expected: T, _ what: String) throws {
            guard found == expected else { throw BrokenPromise(message: "\\(what): \\(found), expected \\(expected)") }
        }

        func expectError(_ code: StoreError.Code?, _ call: () throws -> Void) throws {
            do { try call() } catch let error as StoreError where code == nil || error.code == code { return }
            throw BrokenPromise(message: "nothing was thrown, expected \\(code.map { "\\($0)" } ?? "an error")")
        }

        func expectRollBack(_ write: () throws -> Void) throws {
            do { try write() } catch is RollBack { return }
            throw BrokenPromise(message: "the write does not rethrow the body's error")
        }

        /// Describes every value exactly, independently of the order of the columns.
        func spelled(_ row: Row) -> String {
            let columns = row.columnNames.sorted().map { "\\($0): \\(row[$0].map { exact($0) } ?? "nil")" }
            return "\\(row.id.map { exact($0.value) } ?? "no id") \\(columns)"
        }

        /// Describes text by its scalars, because equivalent texts would otherwise be equal.
        func exact(_ value: Value) -> String {
            switch value {
            case .string(let text), .json(let text): "\\(value.type as Any) \\(text.unicodeScalars.map(\\.value))"
            case .double(let number): "double \\(number.isNaN ? .nan : number)"
            default: "\\(value)"
            }
        }
        """
    ]

    /// Functions for scripts in which another thread reads.
    static let holding = """
        /// Begins a read on another thread, which looks immediately and again when the returned function is called.
        func hold(
            _ store: any LocalStore, _ look: @escaping @Sendable (any StoreReader) throws -> Void
        ) throws -> () throws -> Void {
            let (begun, released, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let problem = Mutex<(any Error)?>(nil)
            Thread.detachNewThread {
                do {
                    try store.read { reader in
                        try look(reader)
                        begun.signal()
                        released.wait()
                        try look(reader)
                    }
                } catch {
                    problem.withLock { $0 = error }
                    begun.signal()
                }
                ended.signal()
            }
            begun.wait()
            return {
                released.signal()
                ended.wait()
                if let error = problem.withLock({ $0 }) { throw error }
            }
        }
        """
}
