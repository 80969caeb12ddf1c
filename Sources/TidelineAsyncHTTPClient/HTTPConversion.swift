#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import Tideline

extension HTTPClientRequest {
    /// Creates a request for async-http-client.
    ///
    /// - Throws: ``TransportError`` if scheme, authority or path is missing.
    init(_ request: HTTPRequest, body: [UInt8]?) throws(TransportError) {
        guard let scheme = request.scheme, let authority = request.authority, let path = request.path else {
            throw TransportError(.invalidRequest, "the request has no scheme, host or path")
        }
        self.init(url: "\(scheme)://\(authority)\(path)")
        method = HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        headers.replaceOrAdd(name: "accept-encoding", value: HTTPFields.acceptedEncodings)
        if let body { self.body = .bytes(ByteBuffer(bytes: body)) }
    }
}

extension HTTPResponse {
    /// Creates the head of the response with the decompressed `body`.
    ///
    /// - Throws: ``TransportError`` for an encoding that was not requested.
    init(_ answer: HTTPClientResponse, body: [UInt8]) throws(TransportError) {
        self.init(status: .init(code: Int(answer.status.code), reasonPhrase: answer.status.reasonPhrase))
        for (name, value) in answer.headers {
            guard let name = HTTPField.Name(name) else { continue }
            headerFields.append(HTTPField(name: name, value: value))
        }
        try headerFields.removeContentEncoding(of: body)
    }
}
#endif
