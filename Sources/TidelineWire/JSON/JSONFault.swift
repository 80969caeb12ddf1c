internal import TidelineStore

/// A fault found while reading JSON: what and where.
///
/// Three trivial words, so that the functions that read a value can throw it at no cost to those that do not; it becomes
/// a ``WireError``, with its texts, once, at the edge of the module.
struct JSONFault: Error {
    var kind: Kind
    /// Bytes from the beginning of the input.
    var offset: Int
    /// The value that was being read.
    var place = Place.none

    /// What a value belongs to.
    enum Place {
        case none
        case column(Int)
        case id
        case deleted
    }

    enum Kind: UInt8 {
        case unexpectedEnd, unexpectedByte, trailingBytes, invalidNumber, controlCharacter, invalidEscape
        case loneSurrogate, invalidUTF8, tooDeep
        case notAPage, notARow, noResults, repeatedResults, invalidCount, tooManyRows
        case wrongType, notAnInt, doubleOutOfRange, invalidTimestamp, invalidBase64, rowTooLarge
        case missingID, duplicateID
    }
}

extension JSONFault.Kind {
    var code: WireError.Code {
        switch self {
        case .unexpectedEnd, .unexpectedByte, .trailingBytes, .invalidNumber, .controlCharacter, .invalidEscape,
            .loneSurrogate, .invalidUTF8, .tooDeep:
            .malformedJSON
        case .notAPage, .notARow, .noResults, .repeatedResults, .invalidCount, .tooManyRows: .wrongShape
        case .wrongType, .notAnInt, .doubleOutOfRange, .invalidTimestamp, .invalidBase64, .rowTooLarge: .invalidValue
        case .missingID: .missingID
        case .duplicateID: .duplicateID
        }
    }

    /// - Parameter type: What the value should have been: the type of its column.
    func message(expecting type: ColumnType) -> String {
        switch self {
        case .unexpectedEnd: "the JSON ends too early"
        case .unexpectedByte: "this is not JSON"
        case .trailingBytes: "something follows the end of the JSON"
        case .invalidNumber: "this is not a JSON number"
        case .controlCharacter: "a control character must be escaped in a JSON string"
        case .invalidEscape: "this is not an escape of JSON"
        case .loneSurrogate: "one half of a surrogate pair is not a character"
        case .invalidUTF8: "the text is not UTF-8"
        case .tooDeep: "arrays and objects lie more than \(JSONScanner.maximumDepth) deep in each other"
        case .notAPage: "an answer is an array of rows, or an object with the array and its count"
        case .notARow: "a row is a JSON object"
        case .noResults: "an answer that is an object has the rows in its member results"
        case .repeatedResults: "an answer has its rows once"
        case .invalidCount: "the count of an answer is a whole number from 0 up"
        case .tooManyRows: "an answer holds no more than \(JSONPage.maximumRowCount) rows"
        case .wrongType: "the value does not fit a column of type \(type.rawValue)"
        case .notAnInt: "the number is not whole or does not fit 64 bits"
        case .doubleOutOfRange: "the number is out of the range of a double"
        case .invalidTimestamp: "the text is not an ISO 8601 date that the column can hold"
        case .invalidBase64: "the text is not base64"
        case .rowTooLarge: "a row is larger than 4 GiB"
        case .missingID: "a row has no id"
        case .duplicateID: "two rows of one answer have the same id"
        }
    }
}
