import EdgeCore
import HTTPWire

/// The field `Forwarded` (RFC 7239): what each proxy on the way says of its client, the nearest proxy last.
package struct ForwardedField: Equatable {
    /// The client of a proxy.
    package enum Node: Equatable {
        /// Its address.
        case address([UInt8])
        /// `unknown`, or a name that the proxy made up.
        case hidden
    }

    /// What one proxy says. Other parameters are ignored.
    package struct Element: Equatable {
        /// The proxy's client (`for`). Nil where the proxy does not say (section 5.2).
        package var node: Node?
        /// In lower case.
        var proto: String?
        /// The host that was asked for. As it was sent, perhaps with a port; characters of other kinds than those of a
        /// host make the field malformed.
        package var host: String?
    }

    /// The longest field that is read. A chain of proxies needs far less.
    package static let maxBytes = 8 * 1024

    /// One element for each proxy. In the order of the field; the element of the nearest proxy is the last.
    package private(set) var elements: [Element] = []

    /// Reads the field, which may be sent on several lines; nil if any of them is malformed.
    ///
    /// A client may write the beginning and proxies add to it, so a malformed part is never skipped: it could be there
    /// to hide what follows it. Section 4 of the RFC asks for quotes around addresses with a port or brackets; values
    /// without them are read all the same.
    ///
    /// - Parameter lines: the field's values in the order of arrival, together at most ``maxBytes``.
    package init?(_ lines: [[UInt8]]) {
        guard lines.reduce(0, { $0 + $1.count }) <= Self.maxBytes else { return nil }
        for line in lines {
            var scanner = ForwardedScanner(line)
            guard let more = scanner.elements() else { return nil }
            elements += more
        }
    }
}

extension ForwardedField.Element {
    /// Takes one parameter; false if its value can't be one.
    fileprivate mutating func take(_ name: [UInt8], _ value: [UInt8]) -> Bool {
        if name.elementsEqual("for".utf8) {
            node = ForwardedField.Node(value)
            return node != nil
        }
        if name.elementsEqual("proto".utf8) {
            let isScheme = value.first.map(ForwardedScanner.isLetter) ?? false
            proto = String(decoding: value.map(ASCII.lower), as: UTF8.self)
            return isScheme && value.allSatisfy { ForwardedScanner.isAlphanumeric($0) || "+-.".utf8.contains($0) }
        }
        if name.elementsEqual("host".utf8) {
            let text = String(decoding: value, as: UTF8.self)
            host = text
            return ForwardedStatement.isHost(text)
        }
        return true
    }
}

extension ForwardedField.Node {
    /// `192.0.2.1`, `[2001:db8::1]`, `unknown` or `_name`, each perhaps with a port; nil for anything else.
    fileprivate init?(_ value: [UInt8]) {
        let isBracketed = value.first == UInt8(ascii: "[")
        let mark = isBracketed ? UInt8(ascii: "]") : UInt8(ascii: ":")
        let end = value.firstIndex(of: mark) ?? value.endIndex
        let name = isBracketed ? value[..<end].dropFirst() : value[..<end]
        let rest = isBracketed ? value[end...].dropFirst() : value[end...]
        if isBracketed, end == value.endIndex { return nil }
        guard Self.isPort(rest) else { return nil }
        let text = String(decoding: name, as: UTF8.self)
        if isBracketed {
            guard name.contains(UInt8(ascii: ":")), let bytes = PackedAddress.bytes(of: text) else { return nil }
            self = .address(bytes)
        } else if name.map(ASCII.lower).elementsEqual("unknown".utf8) || Self.isObfuscated(name) {
            self = .hidden
        } else {
            guard let bytes = PackedAddress.bytes(of: text) else { return nil }
            self = .address(bytes)
        }
    }

    /// Whether the rest is empty, or a colon followed by a number or an obfuscated port.
    private static func isPort(_ rest: ArraySlice<UInt8>) -> Bool {
        guard let first = rest.first else { return true }
        let port = rest.dropFirst()
        guard first == UInt8(ascii: ":") else { return false }
        return isObfuscated(port) || (1...5).contains(port.count) && port.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isObfuscated(_ name: ArraySlice<UInt8>) -> Bool {
        guard name.count > 1, name.first == UInt8(ascii: "_") else { return false }
        return name.allSatisfy { ForwardedScanner.isAlphanumeric($0) || "._-".utf8.contains($0) }
    }
}

/// Reads one line of the field from left to right.
private struct ForwardedScanner {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    mutating func elements() -> [ForwardedField.Element]? {
        var elements: [ForwardedField.Element] = []
        var element = ForwardedField.Element()
        var names: Set<[UInt8]> = []
        while true {
            skipBlanks()
            if let byte = current, byte != UInt8(ascii: ";"), byte != UInt8(ascii: ",") {
                guard let name = token(), current == UInt8(ascii: "=") else { return nil }
                index += 1
                guard let text = value(), names.insert(name).inserted, element.take(name, text) else { return nil }
                skipBlanks()
            }
            if current == UInt8(ascii: ";") {
                index += 1
                continue
            }
            if !names.isEmpty { elements.append(element) }
            guard let byte = current else { return elements }
            guard byte == UInt8(ascii: ",") else { return nil }
            index += 1
            element = ForwardedField.Element()
            names = []
        }
    }

    private mutating func skipBlanks() {
        while current == 0x20 || current == 0x09 { index += 1 }
    }

    /// Reads a name, in lower case.
    private mutating func token() -> [UInt8]? {
        var name: [UInt8] = []
        while let byte = current, TokenByte.contains(byte) {
            name.append(ASCII.lower(byte))
            index += 1
        }
        return name.isEmpty ? nil : name
    }

    private mutating func value() -> [UInt8]? {
        var text: [UInt8] = []
        guard current == UInt8(ascii: "\"") else {
            // Addresses with a port must be in quotes. Many proxies leave the quotes out, and the meaning is still
            // clear.
            while let byte = current, TokenByte.contains(byte) || ":[]".utf8.contains(byte) {
                text.append(byte)
                index += 1
            }
            return text.isEmpty ? nil : text
        }
        index += 1
        while let byte = current {
            index += 1
            if byte == UInt8(ascii: "\"") { return text }
            var meant = byte
            if byte == UInt8(ascii: "\\") {
                guard let escaped = current else { return nil }
                index += 1
                meant = escaped
            }
            guard meant == 0x09 || meant >= 0x20 && meant != 0x7f else { return nil }
            text.append(meant)
        }
        return nil
    }

    static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(ASCII.lower(byte)) }
    static func isAlphanumeric(_ byte: UInt8) -> Bool { isLetter(byte) || (0x30...0x39).contains(byte) }
}
