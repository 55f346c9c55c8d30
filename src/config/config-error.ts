/** A configuration that cannot be used; its message lists every fault. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}
