internal import TidelineStore

/// Parses the header `Link`, in the formats that servers send, and writes it.
///
/// The standard format is `<url>; rel="next"`. The original Node back end omits the `<>`, so that a comma or semicolon
/// of the URL can be distinguished from one of the header only by its context.
package enum LinkHeader {
    /// Returns the URL of the link whose relation is `next`, or `nil` if there is no such link.
    static func next(in header: String) -> String? {
        var rest = Array(header.utf8)[...]
        while let link = takeLink(&rest) {
            if relations(of: link.parameters).contains("next") { return String(decoding: link.url, as: UTF8.self) }
        }
        return nil
    }

    private typealias Link = (url: ArraySlice<UInt8>, parameters: ArraySlice<UInt8>)

    private static func takeLink(_ rest: inout ArraySlice<UInt8>) -> Link? {
        rest = rest.drop { $0.isBlank || $0 == UInt8(ascii: ",") }
        guard let first = rest.first else { return nil }
        let url: ArraySlice<UInt8>
        if first == UInt8(ascii: "<") {
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
            url = rest[(rest.startIndex + 1)..<end]
            rest = rest[(end + 1)...]
        } else {
            let end = bareEnd(of: rest)
            url = rest[..<end]
            rest = rest[end...]
        }
        let end = parametersEnd(of: rest)
        defer { rest = rest[end...] }
        return (url, rest[..<end])
    }

    /// Returns the end of a URL without `<>`: a space or tab, or a semicolon before a space, a tab or `rel=`.
    private static func bareEnd(of text: ArraySlice<UInt8>) -> Int {
        var index = text.startIndex
        while index < text.endIndex {
            if text[index].isBlank { return index }
            if text[index] == UInt8(ascii: ";") {
                let next = text[(index + 1)...].prefix(4).map(\.asciiFolded)
                if next.first?.isBlank ?? true || next.elementsEqual("rel=".utf8) { return index }
            }
            index += 1
        }
        return index
    }

    /// Returns the end of a link's parameters: a comma outside quotes.
    private static func parametersEnd(of text: ArraySlice<UInt8>) -> Int {
        var isQuoted = false
        for (index, byte) in zip(text.indices, text) {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == UInt8(ascii: ","), !isQuoted { return index }
        }
        return text.endIndex
    }

    private static func relations(of parameters: ArraySlice<UInt8>) -> [String] {
        for parameter in parameters.map(\.asciiFolded).split(separator: UInt8(ascii: ";")) {
            let parts = parameter.split(separator: UInt8(ascii: "="), maxSplits: 1)
            guard parts.count == 2, parts[0].trimmingBlanks.elementsEqual("rel".utf8) else { continue }
            let value = parts[1].trimmingBlanks.filter { $0 != UInt8(ascii: "\"") }
            return value.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
        }
        return []
    }

    // MARK: Writing

    /// Returns the header's value for the page after the requested one: the URL of the request with another `$skip`.
    ///
    /// The URL has no angle brackets, because the SDKs of Azure Mobile Apps read only this form.
    ///
    /// - Parameters:
    ///   - origin: The scheme and host, such as `http://localhost:8080`, or `nil` for a link relative to the host.
    ///   - target: The path and query of the request.
    package static func next(origin: String?, target: String, skip: Int) -> String {
        let path = PercentEncoding.repair(target.utf8.prefix { $0 != UInt8(ascii: "?") })
        let query = query(of: target, replacing: [("$skip", skip)])
        return "\(origin ?? "")\(path.hasPrefix("/") ? "" : "/")\(path)?\(query); rel=next"
    }

    /// Returns the member `nextLink` for the page after the requested one: the query of the request with another
    /// `$skip` and, if the request has one, another `$top`.
    package static func nextQuery(target: String, skip: Int, top: Int?) -> String {
        query(of: target, replacing: [("$skip", skip)] + (top.map { [("$top", $0)] } ?? []))
    }

    /// Returns the options `$skip` and `$top` in the query of a link, if they are numbers.
    static func paging(of link: String) -> [(name: String, value: Int)] {
        PercentEncoding.parameters(of: link.prefix { $0 != "#" }).compactMap { parameter in
            guard let name = PercentEncoding.decode(parameter.name, plusIsSpace: true),
                ["$skip", "$top"].contains(name), let value = Int(parameter.value), value >= 0
            else { return nil }
            return (name, value)
        }
    }

    static func query(of target: String, replacing options: [(name: String, value: Int)]) -> String {
        let kept = PercentEncoding.parameters(of: target[...]).filter { parameter in
            let name = PercentEncoding.decode(parameter.name, plusIsSpace: true)
            return !options.contains { $0.name == name }
        }
        return (kept.map { PercentEncoding.repair($0.text.utf8) } + options.map { "\($0.name)=\($0.value)" })
            .joined(separator: "&")
    }
}
