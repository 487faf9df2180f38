const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const [OPEN_OBJECT, OPEN_ARRAY] = [0x7b, 0x5b]
const [CLOSE_OBJECT, CLOSE_ARRAY] = [0x7d, 0x5d]
/** Longest member of a request that can be its id. */
const MAXIMUM_MEMBER_BYTES = 512

/**
 * Finds the id of a JSON-RPC request in a message that is too large to be kept, so that the refusal reaches the call
 * that caused it. Reads the message in parts and keeps one small member of its outermost object.
 */
export class RequestIdScan {
  #depth = 0
  #inString = false
  #isEscaped = false
  #member: number[] = []
  #id: string | number | null = null

  /** Null if no id was found. */
  get id(): string | number | null {
    return this.#id
  }

  read(bytes: Uint8Array): void {
    for (const byte of bytes) this.#step(byte)
  }

  #step(byte: number): void {
    if (this.#inString) {
      this.#keep(byte)
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === BACKSLASH) this.#isEscaped = true
      else if (byte === QUOTE) this.#inString = false
      return
    }
    if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      this.#depth -= 1
      if (this.#depth === 0) this.#endMember()
      return
    }
    if (byte === COMMA && this.#depth === 1) return this.#endMember()
    if (byte === QUOTE) this.#inString = true
    this.#keep(byte)
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#depth += 1
  }

  #keep(byte: number): void {
    if (this.#depth === 1 && this.#member.length <= MAXIMUM_MEMBER_BYTES) this.#member.push(byte)
  }

  #endMember(): void {
    const text = Buffer.from(this.#member).toString('utf8')
    this.#member = []
    if (!/^\s*"id"\s*:/u.test(text)) return
    try {
      const { id } = JSON.parse(`{${text}}`) as { readonly id: unknown }
      if (typeof id === 'string' || typeof id === 'number') this.#id = id
    } catch {
      // Not JSON: the refusal goes without an id.
    }
  }
}
