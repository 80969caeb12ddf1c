internal import HTTPTypes
internal import TidelineStore

/// The decoded path and query of a request.
struct RequestURL {
    var table: String
    var id: String?
    var parameters: [(name: String, value: String)]

    private static let options: Set<String> = ["$filter", "$orderby", "$skip", "$top", "$select"]

    init(_ target: String) throws(RequestRejection) {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        var segments: [String] = []
        for segment in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            segments.append(try PercentEncoding.decoded(Substring(segment), plusIsSpace: false))
        }
        if segments.first == "" { segments.removeFirst() }
        guard (2...3).contains(segments.count), segments[0] == "tables", !segments.contains("") else {
            throw RequestRejection(.notFound, "nothing is at this path; tables are at /tables/{table}[/{id}]")
        }
        table = segments[1]
        id = segments.count == 3 ? segments[2] : nil
        parameters = []
        for (_, name, value) in PercentEncoding.parameters(of: target[...]) {
            parameters.append((try PercentEncoding.decoded(name), try PercentEncoding.decoded(value)))
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
}
