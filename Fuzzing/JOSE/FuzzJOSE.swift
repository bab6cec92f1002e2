import Foundation

// One libFuzzer target for each parser; FUZZ_PARSER names the one to run.

private let parser = ProcessInfo.processInfo.environment["FUZZ_PARSER"].flatMap(FuzzProperties.init(rawValue:)) ?? .jws

/// The `main` of the fuzzer.
@_cdecl("FuzzJOSE_main")
public func fuzzMain(_ count: CInt, _ arguments: Arguments) -> CInt {
    fuzz(count, arguments) { start, length in
        if let violation = parser.violation(Array(UnsafeBufferPointer(start: start, count: length))) {
            fatalError(violation)
        }
        return 0
    }
}
