/** One setting that cannot stand, and what to set instead. */
export interface WrongSetting {
  readonly variable: string
  /** A sentence. It never repeats a secret. */
  readonly message: string
}

/** Every wrong setting at once, so that nobody has to start ten times to find ten mistakes. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly settings: readonly WrongSetting[]

  constructor(settings: readonly WrongSetting[]) {
    super(settings.map(({ variable, message }) => `${variable}: ${message}`).join('\n'))
    this.settings = settings
  }
}
