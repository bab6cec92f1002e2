import Foundation

// The variable FUZZ_PARSER names the parser to fuzz.

private let parser =
    ProcessInfo.processInfo.environment["FUZZ_PARSER"].flatMap(WireProperties.init(rawValue:)) ?? .requests

/// The `main` of the fuzzer.
@_cdecl("FuzzHTTPWire_main")
public func fuzzMain(_ count: CInt, _ arguments: Arguments) -> CInt {
    fuzz(count, arguments) { start, length in
        if let violation = parser.violation(Array(UnsafeBufferPointer(start: start, count: length))) {
            fatalError(violation)
        }
        return 0
    }
}
