internal import Foundation
internal import TidelineStore

/// The steps that a second process carries out for a check, in order. Sent between processes as JSON.
struct ChildJob: Codable, Sendable {
    /// The argument that precedes a job.
    static let marker = "--conformance-job"

    /// The exit status of the process.
    enum Status {
        static let done: Int32 = 0
        static let failed: Int32 = 1
        static let unknownJob: Int32 = 64
    }

    var steps: [ChildStep]
}

/// One step of a second process. A step prints nothing unless its comment says otherwise.
enum ChildStep: Codable, Sendable {
    /// Opens the store for the steps that follow.
    case open(StoreOpening)
    /// Prints a line.
    case say(String)
    /// Prints ``ChildLine/waiting`` and waits for ``ChildProcess/proceed()``.
    case wait
    /// Defines tables.
    case define([TableSchema])
    /// Defines tables by a redefinition.
    case redefine([TableSchema])
    /// Commits the transactions one by one and prints the number of each after its commit.
    case write(PairedTransactions)
    /// Makes all changes in a single transaction, waits within it like ``wait``, then commits.
    case writeAndWait(PairedTransactions)
    /// Reads the tables of ``PairedTransactions`` and waits within the read like ``wait``.
    case readAndWait
    /// Increments the number of a row `times` times and prints the new number each time.
    case increment(PairedCounter, times: Int)
    /// Deletes all rows of these tables in one transaction.
    case empty([String])
    /// Prints the identifiers of the rows whose column has this value, in order, separated by spaces.
    case find(table: String, column: String, value: Int64)
    /// Fills the table of ``EnvironmentQueries`` and prints the answer to each of its queries.
    case askEnvironmentQueries
    /// Runs many ``DifferentQueries`` and prints the growth of the process in bytes.
    case askDifferentQueries
    /// Makes the commits of ``KnownContent`` with these numbers; defines its tables before the first one.
    case fill(Range<Int>)
    /// Makes a change of ``SharedContent``.
    case change(SharedChange, step: Int)
    /// Closes the store.
    case close
    /// Damages copies of a store and prints a ``DamageFinding`` as JSON for each.
    case inspect(DamageJob)
}

/// The lines by which two processes of the suite communicate. Other output of the process is ignored.
enum ChildLine {
    /// The prefix of each line.
    static let prefix = "conformance: "
    /// The first line of each process.
    static let greeting = "here"
    /// The process waits for permission to continue.
    static let waiting = "waiting"
    /// The steps that the check examines begin.
    static let begin = "begin"
    /// The steps that the check examines are complete.
    static let end = "end"
}

/// The error of a second process; written to its standard error as one line of JSON.
struct ChildFailure: Codable, Error, CustomStringConvertible {
    /// The code of a ``StoreError``, or `nil` if another error was thrown.
    var code: StoreError.Code?
    /// The full description of the error.
    var message: String
    /// The path that the error names.
    var path: String?

    init(code: StoreError.Code?, message: String, path: String?) {
        self.code = code
        self.message = message
        self.path = path
    }

    init(_ error: any Error) {
        let storeError = error as? StoreError
        self.init(
            code: storeError?.code, message: storeError?.description ?? "\(type(of: error)): \(error)",
            path: storeError?.path)
    }

    var description: String { message }
}

extension ChildStep: CustomStringConvertible {
    /// A short description of the step for the script of a failure.
    var description: String {
        switch self {
        case .open: "open"
        case .say(let line): "say \(line)"
        case .wait: "wait"
        case .define(let tables): "define \(tables.map(\.name).joined(separator: ", "))"
        case .redefine(let tables): "redefine \(tables.map(\.name).joined(separator: ", "))"
        case .write(let transactions): "write \(transactions.count) times as \(transactions.writer)"
        case .writeAndWait(let transactions):
            "write \(transactions.count * transactions.rows) rows and wait before the commit"
        case .readAndWait: "read and wait before the end"
        case .increment(_, let times): "count up \(times) times"
        case .empty(let tables): "delete all of \(tables.joined(separator: ", "))"
        case .find(let table, let column, let value): "look in \(table) for \(column) == \(value)"
        case .askEnvironmentQueries: "ask for letters, numbers, and dates"
        case .askDifferentQueries: "ask a thousand different queries"
        case .fill(let numbers): "make commits \(numbers)"
        case .change(let change, let step): "make \(change.words), number \(step)"
        case .close: "close"
        case .inspect(let job): "open and read \(job)"
        }
    }
}
