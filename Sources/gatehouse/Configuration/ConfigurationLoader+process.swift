import Foundation

extension ConfigurationLoader {
    /// The loader over this process's environment and disk.
    static func ofProcess() -> ConfigurationLoader {
        ConfigurationLoader(environment: ProcessInfo.processInfo.environment) { path throws(ConfigurationFault) in
            do throws(CommandFailure) {
                return try FileBytes.read(path, limit: FileValue.maximumBytes)
            } catch {
                throw ConfigurationFault(place: "", message: error.description)
            }
        }
    }
}
