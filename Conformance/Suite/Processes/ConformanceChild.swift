internal import Foundation
internal import TidelineStore

/// The entry point of the suite's second process, called by the executable that a ``StoreProcess`` names.
///
/// ```swift
/// let harness = StoreHarness(modes: []) { try MyStore(directory: $0.directory) }
/// if let status = ConformanceChild.run(arguments: CommandLine.arguments, harness: harness) { exit(status) }
/// ```
public enum ConformanceChild {
    /// Runs a job of the suite if the arguments request one.
    ///
    /// The process then belongs to the suite: its output is for the suite, and it should exit with the returned status.
    /// It exits by itself at the end of its standard input, because the process of the suite is then gone.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the process; those before the suite's own are ignored.
    ///   - harness: The suite's harness, which opens the stores.
    /// - Returns: The exit status, or `nil` if the arguments do not request a job.
    public static func run(arguments: [String], harness: StoreHarness) -> Int32? {
        guard let marker = arguments.firstIndex(of: ChildJob.marker) else { return nil }
        let text = arguments.dropFirst(marker + 1).first ?? ""
        guard let job = try? JSONDecoder().decode(ChildJob.self, from: Data(text.utf8)) else {
            report(ChildFailure(code: nil, message: "\(ChildJob.marker) must be followed by a job", path: nil))
            return ChildJob.Status.unknownJob
        }
        do {
            try ChildRun(harness).perform(job)
            return ChildJob.Status.done
        } catch {
            report(ChildFailure(error))
            return ChildJob.Status.failed
        }
    }

    private static func report(_ failure: ChildFailure) {
        guard let line = try? JSONEncoder().encode(failure) else { return }
        FileHandle.standardError.write(line + Data("\n".utf8))
    }
}

/// The work of a second process.
struct ChildRun {
    private let harness: StoreHarness
    /// Signaled for each line of the standard input.
    private let permissions = DispatchSemaphore(value: 0)

    init(_ harness: StoreHarness) { self.harness = harness }

    func perform(_ job: ChildJob) throws {
        readInput()
        say(ChildLine.greeting)
        var store: (any LocalStore)?
        for step in job.steps {
            switch step {
            case .open(let opening): store = try harness.open(opening)
            case .say(let line): say(line)
            case .wait: wait()
            case .inspect(let damages): try inspect(damages)
            default:
                guard let store else { throw HarnessError("the step \(step) precedes the opening of the store") }
                try perform(step, on: store)
            }
        }
    }

    private func perform(_ step: ChildStep, on store: any LocalStore) throws {
        switch step {
        case .define(let tables): try store.define(tables)
        case .redefine(let tables): try store.redefine { _ in tables }
        case .write(let transactions): try write(transactions, to: store)
        case .writeAndWait(let transactions):
            try store.write { writer in
                for number in transactions.numbers { try transactions.apply(number, to: writer) }
                wait()
            }
        case .readAndWait:
            try store.read { reader in
                for table in PairedTransactions.tables { _ = try reader.allRows(table.name) }
                wait()
            }
        case .increment(let counter, let times):
            for _ in 0..<times { say(String(try counter.increment(in: store))) }
        case .empty(let tables):
            try store.write { writer in
                for table in tables { try writer.delete(matching: TableQuery(table)) }
            }
        case .find(let table, let column, let value):
            let query = TableQuery(table, predicate: .column(column) == .literal(.int(value)))
            say(try store.ids(query).joined(separator: " "))
        case .askEnvironmentQueries: for answer in try EnvironmentQueries.answers(of: store) { say(answer) }
        case .askDifferentQueries: say(String(try DifferentQueries.growth(of: store)))
        case .fill(let numbers): try KnownContent.fill(store, numbers)
        case .change(let change, let step): try change.make(step, in: store)
        case .close: try store.close()
        case .open, .say, .wait, .inspect: break
        }
    }

    private func write(_ transactions: PairedTransactions, to store: some LocalStore) throws {
        for number in transactions.numbers {
            try store.write { try transactions.apply(number, to: $0) }
            say(String(number))
        }
    }

    private func inspect(_ job: DamageJob) throws {
        let encoder = JSONEncoder()
        try job.forEachCopy { folder in
            let finding = DamageInspection.finding(in: folder, harness)
            say(String(decoding: try encoder.encode(finding), as: UTF8.self))
        }
    }

    /// Prints a line immediately, without a buffer that would be lost if the process dies.
    private func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(ChildLine.prefix)\(line)\n".utf8))
    }

    /// Waits for permission from the other process.
    private func wait() {
        say(ChildLine.waiting)
        permissions.wait()
    }

    /// Reads the permissions of the other process, and ends with it, even in a store's call that never returns.
    private func readInput() {
        Thread.detachNewThread { [permissions] in
            while case let data = FileHandle.standardInput.availableData, !data.isEmpty {
                for byte in data where byte == UInt8(ascii: "\n") { permissions.signal() }
            }
            _exit(ChildJob.Status.failed)
        }
    }
}
