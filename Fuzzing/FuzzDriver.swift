// SwiftPM links with a main of its own name for a fuzz target, which hands over to libFuzzer's driver. Both fuzzers link to
// this file.

/// What libFuzzer calls with each input.
public typealias FuzzTarget = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
/// The arguments of `main`.
public typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<Arguments>, _ target: FuzzTarget
)
    -> CInt

/// Fuzzes until libFuzzer is done; its exit status.
func fuzz(_ count: CInt, _ arguments: Arguments, _ target: FuzzTarget) -> CInt {
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments, target)
}
