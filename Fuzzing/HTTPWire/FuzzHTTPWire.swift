import Foundation

// FUZZ_PARSER names what is fuzzed. SwiftPM links with a main of its own name for the target, which hands over to
// libFuzzer's driver.

private let parser =
    ProcessInfo.processInfo.environment["FUZZ_PARSER"].flatMap(WireProperties.init(rawValue:)) ?? .requests

public typealias FuzzTarget = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
public typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<Arguments>, _ target: FuzzTarget
)
    -> CInt

@_cdecl("FuzzHTTPWire_main")
public func fuzzMain(_ count: CInt, _ arguments: Arguments) -> CInt {
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments) { start, length in
        if let violation = parser.violation(Array(UnsafeBufferPointer(start: start, count: length))) {
            fatalError(violation)
        }
        return 0
    }
}
