import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

const HEAD_END = '\r\n\r\n'

/** A request, ready to be written. */
export interface Outgoing {
  readonly head: string
  readonly body?: Uint8Array | undefined
  /** The package that it sends, if it sends one. */
  readonly packageId?: string
}

export interface Address {
  readonly url: string
  /** The certificate authority, if the server uses TLS. */
  readonly ca?: string | undefined
}

/**
 * A keep-alive HTTP/1.1 connection with one request at a time. It parses only the length of a response, so that the load
 * generator does not become the bottleneck.
 */
export class Connection {
  readonly #socket: Socket
  #begun: Buffer | undefined
  #expected: number | undefined
  #received = 0
  #status = 0
  #waiting: PromiseWithResolvers<number> | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', (error) => this.#waiting?.reject(error))
    socket.on('close', () => this.#waiting?.reject(new Error('the server closed a connection')))
  }

  static async open({ url, ca }: Address): Promise<Connection> {
    const { hostname: host, port, protocol } = new URL(url)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const socket =
      protocol === 'https:'
        ? connectTls({ host, port: Number(port), ca, ALPNProtocols: ['http/1.1'] }, resolve)
        : connect({ host, port: Number(port) }, resolve)
    socket.once('error', reject)
    await promise
    return new Connection(socket)
  }

  /** Resolves with the status once the whole response has arrived. */
  send({ head, body }: Outgoing): Promise<number> {
    this.#waiting = Promise.withResolvers<number>()
    if (body) {
      this.#socket.cork()
      this.#socket.write(head, 'latin1')
      this.#socket.write(body)
      this.#socket.uncork()
    } else this.#socket.write(head, 'latin1')
    return this.#waiting.promise
  }

  /** The start of the last response, for error messages. */
  lastAnswer(): string {
    return this.#begun?.toString('utf8') ?? ''
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    if (this.#expected === undefined) {
      this.#begun = this.#received === 0 ? chunk : Buffer.concat([this.#begun ?? Buffer.alloc(0), chunk])
      this.#received = this.#begun.length
      this.#readHead(this.#begun)
    } else this.#received += chunk.length
    if (this.#expected === undefined || this.#received < this.#expected) return
    this.#expected = undefined
    this.#received = 0
    this.#waiting?.resolve(this.#status)
  }

  #readHead(bytes: Buffer): void {
    const end = bytes.indexOf(HEAD_END)
    if (end < 0) return
    const head = bytes.toString('latin1', 0, end)
    this.#status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (length === undefined && this.#status !== 204) {
      this.#waiting?.reject(new Error(`an answer without a length: ${head}`))
    }
    this.#expected = end + HEAD_END.length + Number(length ?? 0)
  }
}

/** Opens connections before the clock starts. */
export async function openAll(address: Address, count: number): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Connection.open(address)))
}
