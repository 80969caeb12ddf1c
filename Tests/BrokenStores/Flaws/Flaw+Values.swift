internal import Foundation
internal import TidelineStore

extension Flaw {
    /// Returns the value that is stored in place of a value.
    func stored(_ value: Value, _ column: ColumnSchema) -> Value {
        switch (self, value) {
        case (.versionNotStored, _) where column.name == "version": .null
        case (.integersThroughDouble, .int(let number)): .int(Int64(clamping: Int128(Double(number))))
        case (.instantsCutToMilliseconds, .timestamp(let instant)): .timestamp(instant.flooredToMillisecond)
        case (.emptyBytesAreNull, .bytes([])): .null
        case (.boolsAsIntegers, .bool(let bool)): .int(bool ? 1 : 0)
        case (_, .double(let double)): stored(double)
        case (_, .string(let text)): stored(text)
        case (.jsonTidied, .json(let text)): .json(text.filter { !$0.isWhitespace })
        case (.longBytesCut, .bytes(let bytes)): .bytes(Array(bytes.prefix(1 << 16)))
        default: value
        }
    }

    private func stored(_ double: Double) -> Value {
        switch self {
        case .negativeZeroLost: .double(double == 0 ? 0 : double)
        case .nanStoredAsNull: double.isNaN ? .null : .double(double)
        case .doublesThroughText: .double(Double(String(format: "%.15g", double)) ?? double)
        case .wholeDoublesAsIntegers: Int64(exactly: double).map { .int($0) } ?? .double(double)
        default: .double(double)
        }
    }

    private func stored(_ text: String) -> Value {
        switch self {
        case .emptyTextIsNull: text.isEmpty ? .null : .string(text)
        case .textEndsAtNUL: .string(text.endingAtNUL)
        case .textNormalised: .string(text.precomposedStringWithCanonicalMapping)
        case .spacesTrimmed: .string(text.trimmingCharacters(in: .whitespaces))
        case .longTextCut: .string(String(decoding: text.utf8.prefix(1 << 16), as: UTF8.self))
        case .lineEndsChanged: .string(text.replacing("\r\n", with: "\n"))
        default: .string(text)
        }
    }

    /// Returns the value by which an id is compared, or `nil` if that is the id itself.
    func key(of id: RowID, in layout: TableLayout) -> Value? {
        guard case .string(let text) = id else { return nil }
        switch self {
        case .idCutAtSixtyFour: return .string(String(decoding: text.utf8.prefix(64), as: UTF8.self))
        case .idEndsAtNUL: return .string(text.endingAtNUL)
        case .idNormalised: return .string(text.precomposedStringWithCanonicalMapping)
        case .idFoldedByUnicode where layout.foldsIDs: return .string(text.lowercased())
        case .exactIDsIgnoreCase: return .string(text.asciiLowercased)
        default: return nil
        }
    }

    /// Sets columns that the store fills in by itself.
    func stamp(_ row: inout PlainRow, _ layout: TableLayout) {
        guard self == .systemColumnsStamped, let position = layout.position(of: "updatedAt") else { return }
        row.values[position] = .timestamp(Timestamp(Date()))
    }

    /// Returns the number of rows of a batch that are processed.
    func rowsTaken(of count: Int) -> Int {
        switch self {
        case .lastRowOfBatchDropped: count > 1 ? count - 1 : count
        case .batchCutAtThousand: min(count, 1_000)
        default: count
        }
    }

    /// Returns the ids of a list that are processed.
    func idsTaken(of ids: [RowID]) -> [RowID] {
        switch self {
        case .idsCutAtThousand: Array(ids.prefix(1_000))
        case .onlyFirstIDDeleted: Array(ids.prefix(1))
        default: ids
        }
    }

    /// Returns the error that is thrown in place of an error.
    func told(_ error: StoreError) -> StoreError {
        switch self {
        case .errorWithoutNames: StoreError(error.code, error.message)
        case .errorWithAnotherCode:
            StoreError(.io, error.message, table: error.table, column: error.column, id: error.id)
        default: error
        }
    }
}

extension String {
    var endingAtNUL: String { String(decoding: utf8.prefix { $0 != 0 }, as: UTF8.self) }
}
