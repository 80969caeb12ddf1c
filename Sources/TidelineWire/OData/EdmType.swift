internal import TidelineStore

/// A type of a server's column whose literals in a filter are not strings, although its values in rows are.
package enum EdmType: Sendable, Hashable {
    case date
    case timeOfDay
    case guid
    /// An enumeration, with the name that the server's model gives it.
    case enumeration(String)

    /// Returns the literal for a text.
    ///
    /// - Throws: ``WireError/Code/invalidFilter``, with the name of the column, if the text is not of this type.
    func literal(_ text: String, in column: String) throws(WireError) -> String {
        let isValid: Bool
        switch self {
        case .date: isValid = text.utf8.count == 10 && Timestamp(text + "T00:00:00Z") != nil
        case .timeOfDay: isValid = Timestamp("2000-01-01T\(text)Z") != nil
        case .guid: isValid = ItemID.isUUID(text)
        case .enumeration: isValid = !text.isEmpty
        }
        guard isValid else { throw LiteralTypes.mismatch(text, column, form) }
        if case .enumeration(let name) = self { return name + FilterLiteral.quoted(text) }
        return "cast(\(text),\(name))"
    }

    /// The types that ``literal(_:in:)`` writes as a cast.
    static let casts: [EdmType] = [.date, .timeOfDay, .guid]

    /// The name in OData.
    var name: String {
        switch self {
        case .date: "Edm.Date"
        case .timeOfDay: "Edm.TimeOfDay"
        case .guid: "Edm.Guid"
        case .enumeration(let name): name
        }
    }

    private var form: String {
        switch self {
        case .date: "a date such as 2026-11-21"
        case .timeOfDay: "a time such as 09:12:49"
        case .guid: "a UUID"
        case .enumeration: "the name of a member"
        }
    }
}
