/// Milliseconds since the Unix epoch, or a duration in milliseconds. All modules exchange times in this form.
package typealias Milliseconds = Int64
