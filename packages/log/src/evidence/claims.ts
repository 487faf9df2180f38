import { canonicalize, unlessRefused } from '@agent-exchange/crypto'

/**
 * What one part of the evidence claims, and which of it was verified. A member counts as verified once a signature
 * covers it or once it equals a verified value; `rest` is what only the exchange says.
 *
 * Members are named by their path, such as `proof/signature/key_id`; a path covers everything below it.
 */
export class Claims<T extends object> {
  readonly value: T
  readonly #verified = new Set<string>()
  readonly #differing = new Set<string>()

  constructor(value: T) {
    this.value = value
  }

  at(path: string): unknown {
    let value: unknown = this.value
    for (const name of path.split('/')) {
      const isMember = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
      if (!isMember) return undefined
      value = Reflect.get(value as object, name)
    }
    return value
  }

  textAt(path: string): string | undefined {
    const value = this.at(path)
    return typeof value === 'string' ? value : undefined
  }

  has(path: string): boolean {
    return this.at(path) !== undefined
  }

  /** A verified signature, or the structure itself, covers these members. */
  cover(...paths: string[]): void {
    for (const path of paths) this.#verified.add(path)
  }

  /** The member has to be there and to equal a verified value. */
  expect(path: string, verified: unknown): void {
    const value = this.at(path)
    const isSame = value !== undefined && verified !== undefined && areEqual(value, verified)
    if (isSame) this.cover(path)
    else this.#differing.add(path)
  }

  /** The same for a member that may be absent. */
  expectIfPresent(path: string, verified: unknown): void {
    if (this.has(path)) this.expect(path, verified)
  }

  /** A member that may rightly differ: then it is shown as a claim of the exchange. */
  coverIfEqual(path: string, known: unknown): void {
    if (this.has(path) && areEqual(this.at(path), known)) this.cover(path)
  }

  /** Paths of members that contradict what was verified. */
  get differing(): readonly string[] {
    return [...this.#differing]
  }

  /** The members that nothing covers, in their structure; undefined where there are none. */
  rest(): unknown {
    return this.#restOf(this.value, '')
  }

  #restOf(value: unknown, path: string): unknown {
    if (this.#verified.has(path)) return undefined
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const members = Object.entries(value).map(([name, inner]): [string, unknown] => [
      name,
      this.#restOf(inner, path === '' ? name : `${path}/${name}`),
    ])
    const open = members.filter(([, inner]) => inner !== undefined)
    return open.length === 0 && members.length > 0 ? undefined : Object.fromEntries(open)
  }
}

/** Equal as JSON. What has no canonical form equals nothing. */
export function areEqual(left: unknown, right: unknown): boolean {
  return unlessRefused(() => canonicalize(left) === canonicalize(right)) ?? false
}
