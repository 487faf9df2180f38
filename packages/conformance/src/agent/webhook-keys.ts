import { generateKeyPair, type KeyPair } from '@agent-exchange/crypto'

export interface WebhookKey {
  readonly keyId: string
  readonly pair: KeyPair
}

const DAY_MS = 86_400_000
/** Dates of the directory never move, so they are counted from the start of the kit. */
const STARTED = Date.now()
const at = (days: number) => new Date(STARTED + days * DAY_MS).toISOString()

/** The life of each key of the directory. `active` and `retiring` may sign; the others must be refused. */
const LIVES = {
  active: { status: 'active' },
  retiring: { status: 'retiring' },
  /** Revoked by a check. */
  withdrawn: { status: 'active' },
  early: { status: 'active', valid_from: at(2) },
  over: { status: 'retiring', valid_until: at(-1) },
  retired: { status: 'retired', valid_until: at(-1) },
  revoked: { status: 'revoked', revoked_at: at(-1), invalid_from: at(-2) },
} as const

export type WebhookKeyName = keyof typeof LIVES | 'unlisted' | 'next'

/** The webhook keys of the scripted exchange, and their directory. */
export class WebhookKeys {
  readonly #keys: Map<string, WebhookKey>
  /** Entries that replace those of the named keys, or add further ones. */
  readonly #changes = new Map<string, object>()
  #version = 1

  private constructor(keys: Map<string, WebhookKey>) {
    this.#keys = keys
  }

  static async make(newId: (prefix: string) => string): Promise<WebhookKeys> {
    const names = [...Object.keys(LIVES), 'unlisted', 'next']
    const made = names.map(
      async (name) =>
        [name, { keyId: newId(`key_${name}`), pair: await generateKeyPair('signing') }] as const,
    )
    return new WebhookKeys(new Map(await Promise.all(made)))
  }

  get(name: WebhookKeyName): WebhookKey {
    const key = this.#keys.get(name)
    if (!key) throw new Error(`there is no key ${name}`)
    return key
  }

  /** Publishes a key, or publishes it with another life. */
  publish(name: WebhookKeyName, life: object): void {
    this.#changes.set(name, life)
    this.#version += 1
  }

  directory(): object {
    const entries = Object.entries({ ...LIVES, ...Object.fromEntries(this.#changes) })
    return {
      directory_version: String(this.#version),
      generated_at: new Date().toISOString(),
      keys: entries.map(([name, life]) => this.#entry(name as WebhookKeyName, life)),
    }
  }

  #entry(name: WebhookKeyName, life: object): object {
    const { keyId, pair } = this.get(name)
    return {
      key_id: keyId,
      use: 'signing',
      format: 'jwk',
      public_key: pair.publicKey.jwk,
      valid_from: at(-30),
      valid_until: at(30),
      registered_at: at(-30),
      ...life,
    }
  }
}
