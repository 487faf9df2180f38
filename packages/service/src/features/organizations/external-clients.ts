import type { Context } from '../../kernel/context.ts'
import { Problem } from '../../kernel/problem.ts'

/** With an external issuer, clients are registered there: one that is registered here could never get a token. */
export function requireOwnClients({ externalIssuer }: Pick<Context, 'externalIssuer'>): void {
  if (externalIssuer === undefined) return
  throw new Problem('invalid_state_transition', {
    hint:
      `The clients of this exchange are registered with its identity provider, ${externalIssuer} (AEX_ISSUER). ` +
      'Register the client there with the claim organization_id; docs/identity-providers.md describes the steps.',
  })
}
