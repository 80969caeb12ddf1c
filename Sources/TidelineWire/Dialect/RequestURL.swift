internal import HTTPTypes
internal import TidelineStore

/// The decoded path and query of a request.
struct RequestURL {
    var table: String
    var id: String?
    var parameters: [(name: String, value: String)]

    private static let options: Set<String> = ["$filter", "$orderby", "$skip", "$top", "$select"]

    init(_ target: String) throws(RequestRejection) {
        let parts = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        var segments: [String] = []
        for segment in (parts.first ?? target.utf8[...]).split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        {
            segments.append(try Self.decoded(Substring(segment), plusIsSpace: false))
        }
        if segments.first == "" { segments.removeFirst() }
        guard (2...3).contains(segments.count), segments[0] == "tables", !segments.contains("") else {
            throw RequestRejection(.notFound, "nothing is at this path; tables are at /tables/{table}[/{id}]")
        }
        table = segments[1]
        id = segments.count == 3 ? segments[2] : nil
        parameters = []
        guard parts.count == 2 else { return }
        for parameter in parts[1].split(separator: UInt8(ascii: "&")) {
            let pair = parameter.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = try Self.decoded(Substring(pair[0]), plusIsSpace: true)
            let value = pair.count == 2 ? try Self.decoded(Substring(pair[1]), plusIsSpace: true) : ""
            parameters.append((name, value))
        }
    }

    /// Returns the protocol's options by name. Each may be given at most once. Parameters without `$` belong to the app
    /// and are ignored.
    ///
    /// - Parameter countOption: The name of the option for the total count.
    func options(countOption: String) throws(RequestRejection) -> [String: String] {
        var options: [String: String] = [:]
        for (name, value) in parameters where name.utf8.first == UInt8(ascii: "$") {
            guard Self.options.contains(name) || name == countOption else {
                throw RequestRejection(.badRequest, "\(name.debugDescription) is not an option of this server")
            }
            guard options.updateValue(value, forKey: name) == nil else {
                throw RequestRejection(.badRequest, "\(name) is given more than once")
            }
        }
        return options
    }

    func includesDeleted() throws(RequestRejection) -> Bool {
        let values = parameters.filter { $0.name.asciiLowercased == "__includedeleted" }.map(\.value.asciiLowercased)
        switch values.last {
        case nil, "false": return false
        case "true": return true
        default: throw RequestRejection(.badRequest, "__includeDeleted must be true or false")
        }
    }

    private static func decoded(_ text: Substring, plusIsSpace: Bool) throws(RequestRejection) -> String {
        guard let decoded = PercentEncoding.decode(text, plusIsSpace: plusIsSpace) else {
            throw RequestRejection(
                .badRequest, "\(String(text.prefix(100)).debugDescription) is not percent-encoded UTF-8")
        }
        return decoded
    }
}
