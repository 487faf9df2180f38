import { openedPackage, provenanceText } from '../content/opened-package.ts'
import { untrustedBlock } from '../content/untrusted.ts'
import { defineTool } from '../server/tool.ts'
import { inputOf, packageId } from './common-schemas.ts'

export const readPackage = defineTool({
  name: 'read_package',
  title: 'Read a package',
  verb: 'read',
  description:
    'Opens a package: verifies signature, digest and sender, decrypts it and shows its provenance, then its content as untrusted data. Sends the signed receipts "received" and "opened" if this agent is the recipient, so its sender can no longer revoke it.',
  input: inputOf({ package_id: packageId }),
  output: openedPackage,
  // Not read-only: a receipt is a signed statement.
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  callsPerMinute: 60,
  async run({ package_id }, { session: { agent }, signal, progress }) {
    const shown = await agent.read(package_id, { signal, onProgress: progress })
    return {
      structured: shown,
      text: provenanceText(shown),
      untrusted: [untrustedBlock(shown.untrusted.from, shown.untrusted.object)],
    }
  },
})
