internal import TidelineStore

/// An error in JSON: its kind and location.
///
/// The type consists of three trivial words, so that functions that read values can throw it without a cost for those
/// that do not throw. It is converted to a ``WireError`` with its texts once, at the boundary of the module.
struct JSONFault: Error {
    var kind: Kind
    /// The offset in bytes from the beginning of the input.
    var offset: Int
    /// The value that was being read.
    var place = Place.none

    /// The destination of a value.
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
        case missingID, duplicateID, misspelledName
    }
}

extension JSONFault.Kind {
    var code: WireError.Code {
        switch self {
        case .unexpectedEnd, .unexpectedByte, .trailingBytes, .invalidNumber, .controlCharacter, .invalidEscape,
            .invalidUTF8, .tooDeep:
            .malformedJSON
        case .notAPage, .notARow, .noResults, .repeatedResults, .invalidCount, .tooManyRows: .wrongShape
        case .loneSurrogate, .wrongType, .notAnInt, .doubleOutOfRange, .invalidTimestamp, .invalidBase64, .rowTooLarge,
            .misspelledName:
            .invalidValue
        case .missingID: .missingID
        case .duplicateID: .duplicateID
        }
    }

    /// - Parameter type: The expected type: the type of the column.
    func message(expecting type: ColumnType) -> String {
        switch self {
        case .unexpectedEnd: "the JSON is incomplete"
        case .unexpectedByte: "this is not valid JSON"
        case .trailingBytes: "there are bytes after the end of the JSON"
        case .invalidNumber: "this is not a valid JSON number"
        case .controlCharacter: "a control character must be escaped in a JSON string"
        case .invalidEscape: "this is not a valid JSON escape sequence"
        case .loneSurrogate: "half of a surrogate pair is not a character"
        case .invalidUTF8: "the text is not UTF-8"
        case .tooDeep: "arrays and objects are nested more than \(JSONScanner.maximumDepth) levels deep"
        case .notAPage: "a response must be an array of rows, or an object with the array and its count"
        case .notARow: "a row must be a JSON object"
        case .noResults:
            "a response that is an object must have its rows in the member for them, such as results or items"
        case .repeatedResults: "a response must have its rows only once"
        case .invalidCount: "the count of a response must be a whole number that is not negative"
        case .tooManyRows: "a response must not have more than \(JSONPage.maximumRowCount) rows"
        case .wrongType: "the value does not fit a column of type \(type.rawValue)"
        case .notAnInt: "the number is not whole or does not fit 64 bits"
        case .doubleOutOfRange: "the number is out of the range of a double"
        case .invalidTimestamp: "the text is not an ISO 8601 date that the column can hold"
        case .invalidBase64: "the text is not base64"
        case .rowTooLarge: "a row is larger than 4 GiB"
        case .missingID: "a row has no id"
        case .duplicateID: "two rows of one response have the same id"
        case .misspelledName: "a name differs from that of a column only in case"
        }
    }
}
