import { connect } from 'node:net'
import { workerData } from 'node:worker_threads'
import type { HostileClients } from './hostile-clients.ts'

for (const { connections, ...clients } of workerData as readonly HostileClients[]) {
  const sent = Buffer.concat([
    Buffer.from(clients.head),
    Buffer.alloc(clients.spaces ?? 0, ' '),
    Buffer.from('1\r\n \r\n'.repeat(clients.byteChunks ?? 0)),
  ])
  const dial = () => {
    const socket = connect(clients.port, '127.0.0.1')
    if (clients.isReading) socket.resume()
    else socket.pause()
    socket.on('error', () => undefined)
    socket.once('connect', () => socket.write(sent))
    socket.once('close', () => setTimeout(dial, clients.againMs))
  }
  for (let i = 0; i < connections; i++) dial()
}
