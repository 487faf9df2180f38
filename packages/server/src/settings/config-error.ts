/** An invalid setting and how to correct it. */
export interface InvalidSetting {
  readonly variable: string
  /** A sentence. It never repeats a secret. */
  readonly message: string
}

/** Reports all invalid settings at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly settings: readonly InvalidSetting[]

  constructor(settings: readonly InvalidSetting[]) {
    super(settings.map(({ variable, message }) => `${variable}: ${message}`).join('\n'))
    this.settings = settings
  }
}
