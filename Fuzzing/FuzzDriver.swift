// SwiftPM links a fuzz target with a `main` under the target's own name, which calls libFuzzer's driver. Both fuzzers
// use this file through a symbolic link.

/// The function that libFuzzer calls with each input.
public typealias FuzzTarget = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
/// The arguments of `main`.
public typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<Arguments>, _ target: FuzzTarget
)
    -> CInt

/// Fuzzes until libFuzzer ends, and returns its exit status.
func fuzz(_ count: CInt, _ arguments: Arguments, _ target: FuzzTarget) -> CInt {
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments, target)
}
