import Foundation

extension ConfigurationLoader {
    /// The loader with the environment and the files of this process.
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
