import { openFileKeyStore } from './file-key-store.ts'

// Makes keys until it is killed, and says each one once the store has said that it is kept.
const [file = '', passphrase] = process.argv.slice(2)
const keys = openFileKeyStore(
  file,
  passphrase === undefined ? {} : { passphrase, cost: { n: 1_024, r: 8, p: 1 } },
)
for (;;) {
  const createdAt = new Date().toISOString()
  const { keyId } = await keys.generate({ role: 'signing', stage: 'previous', createdAt })
  process.stdout.write(`${keyId}\n`)
}
