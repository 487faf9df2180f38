// A DNS server on loopback, for the tests beside this file; it holds none itself.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'

const HEADER_BYTES = 12
const TYPE_A = 1
const NAME_ERROR = 3

/** An IPv4 address, or `unknown` for a name that does not exist, or `silent` for no answer at all. */
type NameAnswer = string

export async function startNameServer(answerTo: (name: string) => NameAnswer) {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, { port, address }) => {
    const { name, end } = readName(query)
    asked.push(name)
    const answer = answerTo(name)
    if (answer === 'silent') return
    const isFound = answer !== 'unknown' && query.readUInt16BE(end) === TYPE_A
    const header = Buffer.from(query.subarray(0, HEADER_BYTES))
    header.writeUInt16BE(0x8180 | (answer === 'unknown' ? NAME_ERROR : 0), 2)
    header.writeUInt16BE(isFound ? 1 : 0, 6)
    header.writeUInt16BE(0, 10)
    const question = query.subarray(HEADER_BYTES, end + 4)
    const record = isFound
      ? Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...answer.split('.').map(Number)])
      : Buffer.alloc(0)
    socket.send(Buffer.concat([header, question, record]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    /** Names in the order of their queries, once for each family and attempt. */
    asked,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => socket.close(resolve))
    },
  }
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}
