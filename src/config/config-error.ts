/** Invalid configuration; the message lists every fault. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}
