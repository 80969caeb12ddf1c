internal import Foundation
internal import HTTPTypes
internal import Tideline

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension URLRequest {
    /// Creates a request for URLSession.
    ///
    /// - Throws: ``TransportError`` if scheme, host or path is missing or invalid.
    init(_ request: HTTPRequest, body: [UInt8]?) throws(TransportError) {
        guard let scheme = request.scheme, ["http", "https"].contains(scheme), let authority = request.authority,
            let path = request.path, let url = URL(string: "\(scheme)://\(authority)\(path)"),
            url.host?.isEmpty == false
        else {
            throw TransportError(.invalidRequest, "the request has no valid scheme, host and path")
        }
        self.init(url: url, timeoutInterval: URLSessionTransport.longestTimeout)
        httpMethod = request.method.rawValue
        for field in request.headerFields { addValue(field.value, forHTTPHeaderField: field.name.rawName) }
        setValue(HTTPFields.acceptedHere, forHTTPHeaderField: "Accept-Encoding")
        httpBody = body.map { Data($0) }
    }
}

extension TransportResponse {
    /// Creates the response of a completed task.
    ///
    /// - Throws: ``TransportError`` for a body that is shorter than announced, or in an encoding that was not
    ///   requested.
    init(_ answer: URLResponse?, to method: String?, body: [UInt8]) throws(TransportError) {
        guard let answer = answer as? HTTPURLResponse, (100..<1000).contains(answer.statusCode) else {
            throw TransportError(.invalidResponse, "the response is not a valid HTTP response")
        }
        var response = HTTPResponse(status: .init(code: answer.statusCode))
        for case (let name as String, let value as String) in answer.allHeaderFields {
            guard let name = HTTPField.Name(name) else { continue }
            response.headerFields.append(HTTPField(name: name, value: value))
        }
        try response.headerFields.removeContentEncoding(of: body, accepted: HTTPFields.acceptedHere)
        self.init(response: response, body: body)
        if method != "HEAD" { try checkLength() }
    }

    /// Compares the body with its announced length, if it was not compressed: URLSession may report the early end of a
    /// connection as the end of the response.
    private func checkLength() throws(TransportError) {
        guard let length = response.headerFields[.contentLength] else { return }
        guard let announced = Int(length), announced >= 0 else {
            throw TransportError(.invalidResponse, "the response has the invalid length \(length.debugDescription)")
        }
        // On Linux, URLSession drops the bodies of some redirects.
        guard announced <= body.count || (300..<400).contains(response.status.code) else {
            throw TransportError(
                .connection, "the connection closed after \(body.count) of the \(announced) bytes of the response")
        }
    }
}

extension HTTPFields {
    /// The encodings that URLSession decodes. On Linux, it reports the part of a truncated compressed body as the body.
    fileprivate static var acceptedHere: String {
        #if canImport(FoundationNetworking)
        "identity"
        #else
        acceptedEncodings
        #endif
    }
}
