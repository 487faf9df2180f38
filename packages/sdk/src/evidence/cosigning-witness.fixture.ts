import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  cosignNote,
  formatVerifierKey,
  noteSigner,
  parseCheckpoint,
  parseNote,
  parsePolicy,
  parseWitnessRequest,
  SIGNATURE_TYPE,
  type LogPolicy,
  type PolicyWitness,
} from '@agent-exchange/log'

export interface CosigningWitness extends AsyncDisposable {
  readonly witness: PolicyWitness
}

/** Trusts this log, once this witness cosigned it. */
export function policyWith(logKey: string, { key }: PolicyWitness): LogPolicy {
  return parsePolicy(`log ${logKey}\nwitness w1 ${formatVerifierKey(key)}\nquorum w1\n`)
}

/** C2SP tlog-witness for one log that does not cheat: it remembers sizes and verifies no proof. */
export async function startCosigningWitness(): Promise<CosigningWitness> {
  const signer = await noteSigner('witness.example/w1', SIGNATURE_TYPE.cosignature, randomBytes(32))
  let known = 0
  const server = createServer((request, response) => {
    void (async () => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      const { oldSize, checkpoint } = parseWitnessRequest(Buffer.concat(parts).toString())
      if (oldSize !== known) return response.writeHead(409).end(`${known}\n`)
      known = parseCheckpoint(parseNote(checkpoint).text).size
      return response.end(`${await cosignNote(checkpoint, signer, Math.floor(Date.now() / 1_000))}\n`)
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    witness: { kind: 'witness', name: 'w1', key: signer.key, url },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
