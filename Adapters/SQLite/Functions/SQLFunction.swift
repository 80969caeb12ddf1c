internal import CSQLite
internal import TidelineStore

/// The SQL functions that this adapter adds, where SQLite has no equivalent or a different one: SQLite's own functions
/// stop at a NUL, fold case in `LIKE`, count differently, or round differently.
///
/// Every function returns null if an argument is null, is deterministic, and accesses only its arguments.
enum SQLFunction: String, CaseIterable {
    case length, indexOf, substring, startsWith, endsWith, contains, lower, upper, trim, replace
    case round, floor, ceiling, modulo
    case year, month, day, hour, minute, second

    var name: String { "tideline_\(rawValue)" }

    /// The number of arguments: that of the predicate's function. The remainder is arithmetic, with two operands.
    fileprivate var arity: ClosedRange<Int> { RowPredicate.Function(rawValue: rawValue)?.arity ?? 2...2 }

    /// Computes the result. SQLite calls a C function pointer, which cannot carry context, so each function is a
    /// closure of its own.
    fileprivate var implementation: Implementation {
        switch self {
        case .length: { context, count, values in call(context, count, values, TextFunction.length) }
        case .indexOf: { context, count, values in call(context, count, values, TextFunction.indexOf) }
        case .substring: { context, count, values in call(context, count, values, TextFunction.substring) }
        case .startsWith: { context, count, values in call(context, count, values, TextFunction.startsWith) }
        case .endsWith: { context, count, values in call(context, count, values, TextFunction.endsWith) }
        case .contains: { context, count, values in call(context, count, values, TextFunction.contains) }
        case .lower: { context, count, values in call(context, count, values, TextFunction.lower) }
        case .upper: { context, count, values in call(context, count, values, TextFunction.upper) }
        case .trim: { context, count, values in call(context, count, values, TextFunction.trim) }
        case .replace: { context, count, values in call(context, count, values, TextFunction.replace) }
        case .round: { context, count, values in call(context, count, values) { NumberFunction.rounded($0) } }
        case .floor: { context, count, values in call(context, count, values) { NumberFunction.rounded($0, .down) } }
        case .ceiling: { context, count, values in call(context, count, values) { NumberFunction.rounded($0, .up) } }
        case .modulo: { context, count, values in call(context, count, values, NumberFunction.modulo) }
        case .year: { context, count, values in call(context, count, values) { instant($0, \.year) } }
        case .month: { context, count, values in call(context, count, values) { instant($0, \.month) } }
        case .day: { context, count, values in call(context, count, values) { instant($0, \.day) } }
        case .hour: { context, count, values in call(context, count, values) { instant($0, \.hour) } }
        case .minute: { context, count, values in call(context, count, values) { instant($0, \.minute) } }
        case .second: { context, count, values in call(context, count, values) { instant($0, \.second) } }
        }
    }

    fileprivate typealias Implementation =
        @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
}

enum SQLFunctions {
    /// Registers the functions and the collation on a connection to the file at `path`.
    static func register(on database: OpaquePointer, path: String?) throws(StoreError) {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        var result = sqlite3_create_collation_v2(
            database, FoldingCollation.name, SQLITE_UTF8, nil, FoldingCollation.compare, nil)
        for function in SQLFunction.allCases {
            for count in function.arity where result == SQLITE_OK {
                result = sqlite3_create_function_v2(
                    database, function.name, Int32(count), flags, nil, function.implementation, nil, nil, nil)
            }
        }
        guard result == SQLITE_OK else {
            throw StoreError.sqlite(result, database, path: path, doing: "SQLite rejected a function")
        }
    }
}

/// Calls a Swift function with the arguments, unless one is null, and passes its result to SQLite.
private func call(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?,
    _ function: (borrowing SQLArguments) -> SQLResult
) {
    let arguments = SQLArguments(values: values, count: Int(count))
    guard !arguments.containsNull else {
        sqlite3_result_null(context)
        return
    }
    switch function(arguments) {
    case .null: sqlite3_result_null(context)
    case .int(let value): sqlite3_result_int64(context, value)
    case .double(let value): sqlite3_result_double(context, value)
    case .bytes(let bytes): tideline_result_text(context, bytes.baseAddress, UInt64(bytes.count))
    case .owned(let bytes): bytes.withUnsafeBytes { tideline_result_text(context, $0.baseAddress, UInt64($0.count)) }
    }
}

private func instant(_ arguments: borrowing SQLArguments, _ part: (TimestampParts) -> Int) -> SQLResult {
    .int(Int64(part(Timestamp(clampingTicks: arguments.int(0)).parts)))
}

/// The collation for tables whose identifiers compare without regard to ASCII case.
///
/// It has the same name and the same order as SQLite's own `NOCASE`, but does not stop at a NUL: `a` and `a\0b` are
/// different identifiers. Tools that know only SQLite's own collation can still read the file.
enum FoldingCollation {
    static let name = "NOCASE"

    /// Compares bytes with `A`–`Z` folded to `a`–`z` and returns a negative number, zero or a positive number; a prefix
    /// comes first.
    static let compare:
        @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?) -> Int32 =
            tideline_compare_folded
}

/// The arguments of a call.
///
/// Unsafe pointers: SQLite keeps a text in place for the duration of the call, and each argument is read only as its
/// actual type.
struct SQLArguments: ~Copyable {
    let values: UnsafeMutablePointer<OpaquePointer?>?
    let count: Int

    var containsNull: Bool {
        (0..<count).contains { sqlite3_value_type(values?[$0]) == SQLITE_NULL }
    }

    func isInt(_ index: Int) -> Bool { sqlite3_value_type(values?[index]) == SQLITE_INTEGER }

    func int(_ index: Int) -> Int64 { sqlite3_value_int64(values?[index]) }

    func double(_ index: Int) -> Double { sqlite3_value_double(values?[index]) }

    func bytes(_ index: Int) -> UnsafeRawBufferPointer { (values?[index]).bytes }
}

enum SQLResult {
    case null
    case int(Int64)
    case double(Double)
    /// Text that is part of an argument.
    case bytes(UnsafeRawBufferPointer)
    case owned([UInt8])
}
