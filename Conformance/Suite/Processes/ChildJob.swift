internal import Foundation
internal import TidelineStore

/// What a second process does for a check: steps, one after the other. It goes from process to process as JSON.
struct ChildJob: Codable, Sendable {
    /// The argument that a job follows.
    static let marker = "--conformance-job"

    /// With what the process ends.
    enum Status {
        static let done: Int32 = 0
        static let failed: Int32 = 1
        static let unknownJob: Int32 = 64
    }

    var steps: [ChildStep]
}

/// One thing that a second process does. Where nothing is said of it, it prints nothing.
enum ChildStep: Codable, Sendable {
    /// Opens the store with which the steps that follow deal.
    case open(StoreOpening)
    /// Prints a line.
    case say(String)
    /// Prints ``ChildLine/waiting`` and waits for ``ChildProcess/proceed()``.
    case wait
    /// Defines tables.
    case define([TableSchema])
    /// Commits the transactions one by one and prints the number of each when it is committed.
    case write(PairedTransactions)
    /// Makes all the transactions in a single one, waits within it as ``wait`` does, then commits.
    case writeAndWait(PairedTransactions)
    /// Reads the tables of ``PairedTransactions``, waits within the read as ``wait`` does.
    case readAndWait
    /// Adds one to the number of a row, so many times, and prints the new number each time.
    case increment(PairedCounter, times: Int)
    /// Deletes all rows of these tables in one transaction.
    case empty([String])
    /// Prints the ids of the rows whose column has this value, in order, with spaces between.
    case find(table: String, column: String, value: Int64)
    /// Defines and fills the table of ``DateParts``, and prints for each of its questions the ids of the rows found, in
    /// order, with spaces between.
    case askDateParts
    /// Asks many ``DifferentQueries``, and prints by how many bytes the process grows.
    case askDifferentQueries
    /// Makes the commits of these numbers of ``KnownContent``; before the first one its tables are defined.
    case fill(Range<Int>)
    /// Closes the store.
    case close
    /// Damages copies of a store, and prints a ``DamageFinding`` as JSON for each.
    case inspect(DamageJob)
}

/// The lines by which two processes of the suite understand each other. What else the process prints is passed over.
enum ChildLine {
    /// What each line begins with.
    static let prefix = "conformance: "
    /// The first line of each process.
    static let greeting = "here"
    /// The process waits to be told to go on.
    static let waiting = "waiting"
    /// What the check is about begins.
    static let begin = "begin"
    /// What the check is about is done.
    static let end = "end"
}

/// What went wrong in a second process; on its error output as one line of JSON.
struct ChildFailure: Codable, Error, CustomStringConvertible {
    /// The code of a ``StoreError``; nil when something else was thrown.
    var code: StoreError.Code?
    /// What was thrown, in full.
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
    /// What it does, in few words, for the script of a failure.
    var description: String {
        switch self {
        case .open: "open"
        case .say(let line): "say \(line)"
        case .wait: "wait"
        case .define(let tables): "define \(tables.map(\.name).joined(separator: ", "))"
        case .write(let transactions): "write \(transactions.count) times as \(transactions.writer)"
        case .writeAndWait(let transactions):
            "write \(transactions.count * transactions.rows) rows and wait before the commit"
        case .readAndWait: "read and wait before the end"
        case .increment(_, let times): "count up \(times) times"
        case .empty(let tables): "delete all of \(tables.joined(separator: ", "))"
        case .find(let table, let column, let value): "look in \(table) for \(column) == \(value)"
        case .askDateParts: "ask for the parts of instants"
        case .askDifferentQueries: "ask a thousand different queries"
        case .fill(let numbers): "make commits \(numbers)"
        case .close: "close"
        case .inspect(let job): "open and read \(job)"
        }
    }
}
