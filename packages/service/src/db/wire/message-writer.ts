/** Grows by doubling; what one transaction sends fits in after the first few. */
const FIRST_BYTES = 16_384
/** One that grew beyond this is not kept: bodies may be large, and few are. */
const LARGEST_KEPT_BYTES = 2_097_152
/** UTF-8 has no more bytes for a UTF-16 code unit. */
const BYTES_OF_A_UNIT = 3
const INT16_BYTES = 2
const INT32_BYTES = 4
const INT64_BYTES = 8
const NULL_LENGTH = -1

/**
 * Messages to the server, one behind the other in one buffer: nothing is copied before it is written to the socket.
 * Lengths stand before what they count, and are filled in afterwards.
 */
export class MessageWriter {
  #bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #spare: Buffer | undefined
  #end = 0
  #messageStart = 0

  /** Bytes of the message that was begun last. */
  get messageBytes(): number {
    return this.#end - this.#messageStart
  }

  begin(type: string): this {
    this.#reserve(1 + INT32_BYTES)
    this.#messageStart = this.#end
    this.#bytes[this.#end] = type.charCodeAt(0)
    this.#end += 1 + INT32_BYTES
    return this
  }

  /** Fills in the length of the message; it counts itself, and not the type. */
  finish(): this {
    this.#bytes.writeInt32BE(this.#end - this.#messageStart - 1, this.#messageStart + 1)
    return this
  }

  /** A message without content. */
  bare(type: string): this {
    return this.begin(type).finish()
  }

  int16(value: number): this {
    this.#reserve(INT16_BYTES)
    this.#end = this.#bytes.writeInt16BE(value, this.#end)
    return this
  }

  int32(value: number): this {
    this.#reserve(INT32_BYTES)
    this.#end = this.#bytes.writeInt32BE(value, this.#end)
    return this
  }

  int64(value: bigint): this {
    this.#reserve(INT64_BYTES)
    this.#end = this.#bytes.writeBigInt64BE(value, this.#end)
    return this
  }

  /** Text that ends with a zero, and has none. */
  terminated(text: string): this {
    if (text.includes('\0')) throw new TypeError('there is a zero in the text of a statement')
    this.#reserve(text.length * BYTES_OF_A_UNIT + 1)
    this.#end += this.#bytes.write(text, this.#end)
    this.#bytes[this.#end++] = 0
    return this
  }

  /** A value behind its length. */
  text(value: string): this {
    this.#reserve(INT32_BYTES + value.length * BYTES_OF_A_UNIT)
    const written = this.#bytes.write(value, this.#end + INT32_BYTES)
    this.#bytes.writeInt32BE(written, this.#end)
    this.#end += INT32_BYTES + written
    return this
  }

  /** A value behind its length. */
  bytes(value: Uint8Array): this {
    this.#reserve(INT32_BYTES + value.length)
    this.#bytes.writeInt32BE(value.length, this.#end)
    this.#bytes.set(value, this.#end + INT32_BYTES)
    this.#end += INT32_BYTES + value.length
    return this
  }

  raw(value: Uint8Array): this {
    this.#reserve(value.length)
    this.#bytes.set(value, this.#end)
    this.#end += value.length
    return this
  }

  /** Room for a length, which `endLength` fills in. */
  beginLength(): number {
    this.int32(0)
    return this.#end
  }

  endLength(start: number): void {
    this.#bytes.writeInt32BE(this.#end - start, start - INT32_BYTES)
  }

  none(): this {
    return this.int32(NULL_LENGTH)
  }

  /** Forgets all that was written since then. */
  backTo(mark: number): void {
    this.#end = mark
  }

  get mark(): number {
    return this.#end
  }

  /**
   * What was written. It belongs to the caller until it is given back; what comes next goes into another buffer.
   */
  take(): { readonly written: Uint8Array; giveBack: () => void } {
    const buffer = this.#bytes
    const written = buffer.subarray(0, this.#end)
    this.#end = 0
    this.#bytes = this.#spare ?? Buffer.allocUnsafeSlow(FIRST_BYTES)
    this.#spare = undefined
    return {
      written,
      giveBack: () => {
        if (buffer.length <= LARGEST_KEPT_BYTES) this.#spare ??= buffer
      },
    }
  }

  #reserve(more: number): void {
    const needed = this.#end + more
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#end)
    this.#bytes = larger
  }
}
