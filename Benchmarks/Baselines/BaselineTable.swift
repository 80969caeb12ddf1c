internal import CBaselines
internal import TidelineBenchmark
internal import TidelineStore

/// The benchmark's table as C code sees it.
///
/// `@unchecked Sendable`: what the pointers lead to is made once and never changes.
final class BaselineTable: @unchecked Sendable {
    /// For the C functions, as long as this object lives.
    let pointer: UnsafeMutablePointer<baseline_table>
    private let names: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>
    private let types: UnsafeMutableBufferPointer<baseline_type>

    init(_ table: BenchmarkTable) throws {
        let shape = table.schema.makeShape()
        let columns = shape.columns
        let position = { (name: String) throws(BaselineError) -> UInt32 in
            guard let index = shape.index(of: name) else { throw BaselineError("the table lacks the column \(name)") }
            return UInt32(index)
        }
        let (text, list, rank) = (try position("text"), try position("list"), try position("rank"))
        let updatedAt = try position("updatedAt")
        let known = try columns.map { try Self.type(of: $0) }
        names = .allocate(capacity: columns.count)
        types = .allocate(capacity: columns.count)
        _ = names.initialize(from: columns.map { Self.copy($0.name) })
        _ = types.initialize(from: known)
        pointer = .allocate(capacity: 1)
        pointer.initialize(
            to: baseline_table(
                names: names.baseAddress, types: types.baseAddress, count: UInt32(columns.count), text: text,
                list: list,
                rank: rank, updated_at: updatedAt, is_indexed: table.isIndexed))
    }

    deinit {
        for name in names { name?.deallocate() }
        names.deallocate()
        types.deallocate()
        pointer.deallocate()
    }

    private static func type(of column: ColumnSchema) throws(BaselineError) -> baseline_type {
        switch column.type {
        case .bool: BASELINE_BOOL
        case .int: BASELINE_INT
        case .double: BASELINE_DOUBLE
        case .string: BASELINE_STRING
        case .timestamp: BASELINE_TIMESTAMP
        case .bytes, .json: throw BaselineError("the baselines have no columns of type \(column.type.rawValue)")
        }
    }

    private static func copy(_ name: String) -> UnsafePointer<CChar> {
        let bytes = name.utf8CString
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        for (index, byte) in bytes.enumerated() { (copy + index).initialize(to: byte) }
        return UnsafePointer(copy)
    }
}
